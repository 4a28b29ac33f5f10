/**
 * The built-in default of each key of a job: what a plan has of a job that does not write it.
 * Owns the jobs that are asked, the least that has a part at all; values come out of the compiler.
 */
import { formatUsd, nanoUsd } from '../../core/money.ts';
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
  const world = { readFile: () => ({ problem: 'missing' }) as const, sha256: () => '', inputs: NO_INPUTS };
  const { origins } = compileExplained({ path: 'least.yaml', text: LEAST }, world);
  const values = origins === null ? [] : [...origins.run, ...origins.item(0).map(ofConversation)];
  return new Map(
    values
      .filter(({ origin }) => origin.kind === 'default' || origin.kind === 'deployment')
      .map((value) => [value.key, words(value)]),
  );
}

const NO_INPUTS = { typed: {}, values: {} };

function ofConversation(value: EffectiveValue): EffectiveValue {
  return { ...value, key: `conversations[].${value.key}` };
}

function words({ field, value, origin }: EffectiveValue): string {
  if (value === null) return origin.kind === 'deployment' ? "the deployment's" : 'none';
  if (typeof value === 'number' && field.endsWith('Ms')) return `\`${formatDuration(value)}\``;
  if (typeof value === 'number' && /nanoUsd/i.test(field)) return `\`${formatUsd(nanoUsd(value)).slice(1)}\``;
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
