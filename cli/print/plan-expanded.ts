/**
 * `plan --expanded`: each effective value with its origin, as lines and as records.
 * Owns the words of an origin and the spelling of values; where values come from is found by the compiler.
 */
import { formatDuration } from '../../dsl/duration.ts';
import type { EffectiveValue, Origin, PlanOrigins, Source } from '../../dsl/origins/origin.ts';
import type { EffectiveValue as Setting } from '../../host/config/effective-values.ts';
import { usd } from '../../core/text/amounts.ts';
import type { JsonRecord } from '../../host/records.ts';
import { printable, table } from '../../host/terminal-text.ts';

interface Expanded {
  readonly origins: PlanOrigins;
  /** Keys of the items, in the order of the plan. */
  readonly keys: readonly string[];
  /** Of the deployment; empty where none can be read. */
  readonly settings: readonly Setting[];
}

/** What a deployment decides about a run beside its plan. */
const SETTINGS: ReadonlySet<string> = new Set([
  'agent.iterations_max',
  'capacity.conversations_per_sandbox',
  'capacity.on_full',
  'capacity.sandboxes',
  'capacity.sandboxes_per_user',
  'engine.kind',
  'limits.deletion_time',
  'limits.idle_time',
  'user.git_author.email',
  'user.git_author.name',
  'user.grouping',
]);

const VALUE_WIDTH_MAX = 60;
/** Fields whose text is a page of its own, shown below the table. */
const TEXT_FIELD = 'prompt';

export function* expandedLines({ origins, keys, settings }: Expanded): Generator<string> {
  yield* section('run', origins.run);
  const decided = settings.filter(({ path }) => SETTINGS.has(path));
  if (decided.length > 0) {
    yield 'deployment';
    yield* rows(decided.map(({ path, value, origin }) => [path, String(value), origin]));
    yield '';
  }
  for (const [index, key] of keys.entries()) yield* section(`+ ${key}`, origins.item(index));
}

function* section(title: string, values: readonly EffectiveValue[]): Generator<string> {
  yield printable(title);
  yield* rows(values.map((value) => [value.key, valueText(value), originWords(value.origin)]));
  const text = values.find(({ field }) => field === TEXT_FIELD)?.value;
  if (typeof text === 'string') {
    yield '    prompt: |';
    for (const line of text.trimEnd().split('\n')) yield `      ${printable(line)}`;
  }
  yield '';
}

function rows(cells: readonly (readonly string[])[]): string[] {
  const columns = [{ title: '' }, { title: '', widthMax: VALUE_WIDTH_MAX }, { title: '' }];
  const [, ...lines] = table(columns, cells);
  return lines.map((line) => `    ${line}`);
}

function valueText({ field, value }: EffectiveValue): string {
  if (value === null) return 'none';
  if (field === TEXT_FIELD) return 'below';
  if (typeof value === 'number' && field.endsWith('Ms')) return formatDuration(value);
  if (typeof value === 'number' && /nanoUsd/i.test(field)) return usd(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `base.yaml:9, under defaults; row repos.csv:17 (owner)`. */
function originWords({ kind, place, under, from }: Origin): string {
  const where = place === null ? WORDS[kind] : `${place.file}:${place.line}`;
  const part = under === null ? '' : `, under ${under}`;
  return [`${where}${part}`, ...from.map(sourceWords)].join('; ');
}

const WORDS: Readonly<Record<Origin['kind'], string>> = {
  job: 'the job',
  extends: 'a file that the job extends',
  default: 'default',
  deployment: 'the deployment decides',
  plan: 'the saved plan',
};

function sourceWords(source: Source): string {
  switch (source.kind) {
    case 'input':
      return `input ${source.name} (${GIVEN[source.given]})`;
    case 'row':
      return `row ${source.file}:${source.line} (${source.column})`;
    case 'axis':
      return `matrix ${source.name}`;
  }
}

const GIVEN = { typed: '--input', file: '--inputs', default: 'its default' } as const;

/** One record for the run with what the deployment decides, then one for each item. */
export function* expandedRecords({ origins, keys, settings }: Expanded): Generator<JsonRecord> {
  const deployment = settings
    .filter(({ path }) => SETTINGS.has(path))
    .map(({ path, value, origin }) => ({ path, value, origin }));
  yield { type: 'plan_expanded', key: null, values: origins.run.map(valueRecord), deployment };
  for (const [index, key] of keys.entries())
    yield { type: 'plan_expanded', key, values: origins.item(index).map(valueRecord) };
}

function valueRecord({ key, field, value, origin }: EffectiveValue): object {
  const { kind, place, under, from } = origin;
  const where = place === null ? {} : { file: place.file, line: place.line };
  return { key, field, value, origin: { kind, ...where, ...(under === null ? {} : { under }), from } };
}
