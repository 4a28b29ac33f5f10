/**
 * What an item's results lack, beside them as `findings.json`.
 * Owns the file's shape and the bound; one file that cannot be kept is a finding, and never the loss of the others.
 */
import { z } from 'zod';
import type { RunId } from '../../core/ids.ts';
import type { Finding } from '../../core/run/items/item-evidence.ts';
import { parseKept } from '../kept-file.ts';
import type { World } from '../world.ts';

/** Name of the file that keeps an item's findings. */
export const FINDINGS_FILE = 'findings.json';
const FORMAT = 1;
/** Of one item: more are counted. */
const FINDINGS_MAX = 200;
/** Withheld results that the outcome names; the others are only in the file. */
const OUTCOME_NAMES_MAX = 3;

const findingSchema: z.ZodType<Finding> = z.object({
  code: z.enum(['secret', 'left_out']),
  result: z.string(),
  says: z.string(),
});

const findingsFileSchema = z.object({ format: z.literal(FORMAT), findings: z.array(findingSchema) });

export const leftOut = (result: string, says: string): Finding => ({ code: 'left_out', result, says });

/** Null when the file is missing or was not written by Parley. */
export function parseFindings(bytes: Uint8Array | null): readonly Finding[] | null {
  return parseKept(findingsFileSchema, bytes)?.findings ?? null;
}

interface ItemOfRun {
  readonly runId: RunId;
  readonly key: string;
}

export async function readFindings(
  world: Pick<World, 'results'>,
  { runId, key }: ItemOfRun,
): Promise<readonly Finding[]> {
  return parseFindings(await world.results.read({ runId, key, name: FINDINGS_FILE })) ?? [];
}

/** Replaces those of an earlier attempt; no file is made for an empty list. */
export async function writeFindings(
  world: Pick<World, 'results'>,
  { runId, key }: ItemOfRun,
  findings: readonly Finding[],
): Promise<void> {
  const file = { runId, key, name: FINDINGS_FILE };
  if (findings.length === 0 && (await world.results.read(file)) === null) return;
  const kept = findings.slice(0, FINDINGS_MAX);
  const rest = findings.length - kept.length;
  const all = rest === 0 ? kept : [...kept, leftOut('', `and ${rest} more`)];
  const text = `${JSON.stringify({ format: FORMAT, findings: all }, null, 2)}\n`;
  await world.results.write(file, new TextEncoder().encode(text));
}

/** For the outcome: results that are missing for a secret. Null when none is. */
export function withheldWords(findings: readonly Finding[]): string | null {
  const names = findings.filter(({ code }) => code === 'secret').map(({ result }) => `"${result}"`);
  if (names.length === 0) return null;
  const shown = names.slice(0, OUTCOME_NAMES_MAX).join(', ');
  const more = names.length > OUTCOME_NAMES_MAX ? ` and ${names.length - OUTCOME_NAMES_MAX} more` : '';
  return `withheld for a secret: ${shown}${more}`;
}
