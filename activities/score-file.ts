/**
 * The numbers that a job's scorers gave one item, as they are kept beside its results.
 * Owns the file's name and form, what of an output is the number, and whether it is good enough.
 */
import { z } from 'zod';
import type { RunId } from '../core/ids.ts';
import type { PlanScore } from '../core/plan/plan-check.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import type { Score } from '../core/run/items/item-evidence.ts';
import type { CommandResult } from '../ports/agent-server.ts';
import { endWords } from './in-sandbox.ts';
import { parseKept } from './kept-file.ts';
import type { World } from './world.ts';

export const SCORES_FILE = 'scores.json';
/** Enough of a line to see what it is. */
const LINE_CHARS_MAX = 100;
/** A plain number, and a share as tools print it. */
const NUMBER = /^([+-]?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?) ?%?$/;

const scoreSchema: z.ZodType<Score> = z.object({
  name: z.string(),
  value: z.number().nullable(),
  at_least: z.number().optional(),
  at_most: z.number().optional(),
  problem: z.string().nullable(),
});

const fileSchema = z.object({ format: z.literal(1), scores: z.array(scoreSchema) });

export function scoresText(scores: readonly Score[]): string {
  return `${JSON.stringify({ format: 1, scores }, null, 2)}\n`;
}

/** Null for no file, and for one that Parley did not write. */
export function parseScores(content: Uint8Array | null): readonly Score[] | null {
  return parseKept(fileSchema, content)?.scores ?? null;
}

/** Null as for `parseScores`. */
export async function readScores(
  world: Pick<World, 'results'>,
  { runId, key }: { readonly runId: RunId; readonly key: string },
): Promise<readonly Score[] | null> {
  return parseScores(await world.results.read({ runId, key, name: SCORES_FILE }));
}

/** Empty for an item that was not judged: its file may hold the numbers of an earlier attempt. */
export async function judgedScores(
  world: Pick<World, 'results'>,
  runId: RunId,
  row: Pick<RunItemRow, 'key' | 'outcome'> | null,
): Promise<readonly Score[]> {
  if (row?.outcome !== 'succeeded' && row?.outcome !== 'check_failed') return [];
  return (await readScores(world, { runId, key: row.key })) ?? [];
}

/** The score from the end of its command; exit code −1 stands for a command that did not end. */
export function scoreOf(plan: PlanScore, { exitCode, stdout }: CommandResult): Score {
  const { name, timeoutMs, atLeast, atMost } = plan;
  const bounds = {
    ...(atLeast === undefined ? {} : { at_least: atLeast }),
    ...(atMost === undefined ? {} : { at_most: atMost }),
  };
  const without = (problem: string): Score => ({ name, value: null, ...bounds, problem });
  if (exitCode !== 0) return without(endWords(exitCode, timeoutMs));
  const line = stdout.trimEnd().split(/\r?\n/).at(-1)?.trim() ?? '';
  const written = NUMBER.exec(line)?.[1];
  if (written === undefined)
    return without(`its last line is no number: ${JSON.stringify(line.slice(0, LINE_CHARS_MAX))}`);
  const value = Number(written);
  return { name, value, ...bounds, problem: boundProblem(value, plan) };
}

function boundProblem(value: number, { atLeast = -Infinity, atMost = Infinity }: PlanScore): string | null {
  if (value < atLeast) return `${value} is less than ${atLeast}`;
  return value > atMost ? `${value} is more than ${atMost}` : null;
}
