/**
 * How the last steps of a run went, as kept beside its results in `finally.json`.
 * Owns the file and its shape; must not decide what a step is.
 */
import { z } from 'zod';
import type { RunId } from '../../core/ids.ts';
import type { LastStep } from '../../core/run/items/item-evidence.ts';
import { parseKept } from '../kept-file.ts';
import type { World } from '../world.ts';

export const LAST_STEPS_FILE = 'finally.json';
const FORMAT = 1;

const stepSchema: z.ZodType<LastStep> = z.object({
  step: z.number(),
  id: z.string(),
  state: z.enum(['sent', 'not_wanted', 'failed']),
  problem: z.object({ code: z.string(), message: z.string() }).nullable(),
  at: z.number(),
});
const fileSchema = z.object({ format: z.literal(FORMAT), steps: z.array(stepSchema) });

/** In the order of the job; empty when nothing is known of any. */
export async function readLastSteps(
  { results }: Pick<World, 'results'>,
  runId: RunId,
): Promise<readonly LastStep[]> {
  const bytes = await results.read({ runId, key: null, name: LAST_STEPS_FILE });
  return parseKept(fileSchema, bytes)?.steps ?? [];
}

/** Replaces what is known of the step, and of those behind it: they belong to an earlier end of the run. */
export async function keepLastStep(
  world: Pick<World, 'results'>,
  runId: RunId,
  step: LastStep,
): Promise<void> {
  const before = (await readLastSteps(world, runId)).filter((known) => known.step < step.step);
  const text = `${JSON.stringify({ format: FORMAT, steps: [...before, step] }, null, 2)}\n`;
  await world.results.write({ runId, key: null, name: LAST_STEPS_FILE }, new TextEncoder().encode(text));
}
