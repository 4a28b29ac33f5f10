/**
 * The built-in default of each key of a job: what a plan has of a job that does not write it.
 * Owns the jobs that are asked, the least that has a part at all; values come out of the compiler.
 */
import { formatUsd, nanoUsd } from '../../core/money/money.ts';
import { compileExplained } from '../compile-job.ts';
import { formatDuration } from '../duration.ts';
import type { EffectiveValue } from '../origins/origin.ts';

/** A budget has a mode, a reconciliation a window, a pool its places, a check a timeout: parts that are there only when they are asked for. */
const LEAST = `kind: job
version: 1
name: least
budget: {usd: 1}
reconcile: {rows: gateway}
placement: {pool: {size: 1}}
conversations:
  - {id: a, prompt: Do it., model: m, repo: acme/shop, verify: 'true'}
`;

/** Key of the job → its default in words; what a job must write is absent. */
export function builtInDefaults(): ReadonlyMap<string, string> {
  return new Map(standardValues().map((value) => [value.key, words(value)]));
}

/** Key of the job → its default as a job would write it; keys without one, and those of the deployment, are absent. */
export function writtenDefaults(): ReadonlyMap<string, unknown> {
  const set = standardValues().filter(({ key, value }) => value !== null && key !== TEMPLATE_KEY);
  return new Map(set.map(({ key, field, value }) => [key, written(field, value)]));
}

/** Its default depends on the conversation. */
const TEMPLATE_KEY = 'conversations[].key';

function standardValues(): EffectiveValue[] {
  const world = { readFile: () => ({ problem: 'missing' }) as const, sha256: () => '', inputs: NO_INPUTS };
  const { origins } = compileExplained({ path: 'least.yaml', text: LEAST }, world);
  const values = origins === null ? [] : [...origins.run, ...origins.item(0).map(ofConversation)];
  return values.filter(({ origin }) => origin.kind === 'default' || origin.kind === 'deployment');
}

const NO_INPUTS = { typed: {}, values: {} };

function ofConversation(value: EffectiveValue): EffectiveValue {
  return { ...value, key: `conversations[].${value.key}` };
}

/** The plan's field and value as the job spells them: `maxMs: 600000` is `max: 10m`. */
function written(field: string, value: unknown): unknown {
  if (typeof value === 'number' && field.endsWith('Ms')) return formatDuration(value);
  if (typeof value === 'number' && /nanoUsd/i.test(field)) return formatUsd(nanoUsd(value)).slice(1);
  if (Array.isArray(value)) return value.map((one) => written('', one));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(
    ([name, one]) => [name.replace(/Ms$/, ''), written(name, one)] as const,
  );
  const map = Object.fromEntries(fields) as Readonly<Record<string, unknown>>;
  if (fields.length === 1 && 'kind' in map) return map['kind'];
  // The plan of a retry is flat.
  const { initial, factor, max, ...rest } = map;
  return initial === undefined ? map : { ...rest, backoff: { initial, factor, max } };
}

function words({ field, value, origin }: EffectiveValue): string {
  if (value === null) return origin.kind === 'deployment' ? "the deployment's" : 'none';
  if (typeof value === 'number' && field.endsWith('Ms')) return `\`${formatDuration(value)}\``;
  if (typeof value === 'number' && /nanoUsd/i.test(field)) return `\`${formatUsd(nanoUsd(value)).slice(1)}\``;
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
