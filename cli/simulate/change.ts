/**
 * `KEY=VALUE` and `KEY=A,B,C` as they are typed, read in the form of the key's file.
 * Owns the spelling and its messages; what a key does is in changeable-keys.ts.
 */
import { z } from 'zod';
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { CliError } from '../../host/cli-error.ts';
import { withConcurrency } from '../job/load-plan.ts';
import { CHANGEABLE_KEYS, type ChangeableKey, type ChangeValue, type Setup } from './changeable-keys.ts';

export interface Change {
  readonly key: string;
  readonly value: ChangeValue;
}

/** No user reads a table of more rows, and it takes hours to play. */
const COMBINATIONS_MAX = 200;

/** @throws CliError naming what is wrong */
export function parseChange(text: string): Change {
  const { key, rest } = split(text, 'KEY=VALUE');
  return { key, value: valueOf(key, rest) };
}

/** The cross product, the last key moving fastest. @throws CliError */
export function parseSweep(texts: readonly string[]): readonly (readonly Change[])[] {
  const axes = texts.map(parseAxis);
  const twice = axes.find(({ key }, at) => axes.findIndex((other) => other.key === key) !== at);
  if (twice !== undefined)
    throw new CliError(`Cannot sweep "${twice.key}": it is given twice`, {
      remedy: `put all values into one: ${twice.key}=A,B,C`,
    });
  const count = axes.reduce((product, { values }) => product * values.length, 1);
  if (count > COMBINATIONS_MAX)
    throw new CliError(`Cannot sweep ${count} combinations: there may be ${COMBINATIONS_MAX}`);
  return axes.reduce<readonly (readonly Change[])[]>(
    (rows, { key, values }) => rows.flatMap((row) => values.map((value) => [...row, { key, value }])),
    [[]],
  );
}

/** In the order given: the last word on a key counts. */
export function applyChanges(setup: Setup, changes: readonly Change[]): Setup {
  const { plan, policy } = changes.reduce((changed, { key, value }) => {
    if (key !== 'budget.usd' && key.startsWith('budget.') && changed.plan.budget === null)
      throw new CliError(`Cannot change "${key}": the job has no budget`, {
        remedy: 'change "budget.usd" as well, before it',
      });
    return known(key).apply(changed, value);
  }, setup);
  // Another plan has another hash.
  return { policy, plan: plan === setup.plan ? plan : withConcurrency(plan, plan.admission.concurrency) };
}

function parseAxis(text: string): { readonly key: string; readonly values: readonly ChangeValue[] } {
  const { key, rest } = split(text, 'KEY=A,B,C');
  return { key, values: rest.split(',').map((value) => valueOf(key, value.trim())) };
}

function split(text: string, form: string): { readonly key: string; readonly rest: string } {
  const at = text.indexOf('=');
  if (at > 0) return { key: text.slice(0, at).trim(), rest: text.slice(at + 1).trim() };
  throw new CliError(`Cannot read the change "${text}": it is not ${form}`, {
    remedy: 'write for example limits.idle_time=300',
  });
}

function valueOf(key: string, text: string): ChangeValue {
  const { schema } = known(key);
  const value = schema instanceof z.ZodNumber && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return value;
  throw new CliError(`Cannot set "${key}" to "${text}": ${expected(schema)}`);
}

function expected(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodEnum) return `it is one of ${schema.options.join(', ')}`;
  const description = z.globalRegistry.get(schema)?.description;
  const form = schema instanceof z.ZodNumber ? numberForm(schema) : 'it has the form of its file';
  return description === undefined ? form : `${form}; ${lowerFirst(description)}`;
}

function numberForm({ minValue, maxValue }: z.ZodNumber): string {
  return `it is a whole number from ${minValue} to ${maxValue}`;
}

/** A description is a sentence; a part of a message has no capital and no period. */
function lowerFirst(sentence: string): string {
  return `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

function known(key: string): ChangeableKey {
  const found = CHANGEABLE_KEYS.get(key);
  if (found !== undefined) return found;
  const names = [...CHANGEABLE_KEYS.keys()];
  const near = nearestName(key, names);
  if (near === null && /session|twelve|12h/i.test(key))
    throw new CliError(
      `Cannot change "${key}": a session lasts at most 12 hours, and that is a constant of the platform (D10)`,
      { remedy: 'what becomes of work that it cuts off is wait.on_session_limit' },
    );
  throw new CliError(`Cannot change "${key}": a simulation has no such key`, {
    remedy: `${near === null ? '' : `did you mean "${near}"? `}keys: ${names.join(', ')}`,
  });
}
