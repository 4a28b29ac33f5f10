/**
 * Which branches a run has pushed, as the evidence beside its results says.
 * Owns the reading; must not push anything.
 */
import { z } from 'zod';
import type { RunId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Results } from '../../ports/results.ts';
import { readEach, readOrNull } from './read-results.ts';

const schema = z.object({
  state: z.enum(['pushing', 'pushed', 'nothing', 'failed']),
  repository: z.string(),
  branch: z.string(),
  commits: z.array(z.string()),
  problem: z.object({ code: z.string(), message: z.string() }).nullable(),
  pullRequest: z
    .object({
      state: z.enum(['opened', 'updated', 'closed', 'merged', 'failed']),
      number: z.number().nullable(),
      url: z.string().nullable(),
      notes: z.array(z.string()),
      problem: z.object({ code: z.string(), message: z.string(), remedy: z.string().nullable() }).nullable(),
    })
    .nullish()
    .transform((one) => one ?? null),
});

export interface Delivery extends Omit<z.infer<typeof schema>, 'commits'> {
  readonly key: string;
  /** The last one; null when there is none. */
  readonly commit: string | null;
}

/** In plan order; without those of which nothing is known. Empty for a job that pushes nothing. */
export async function readDeliveries(
  plan: Plan | null,
  { results, runId }: { readonly results: Results; readonly runId: RunId },
): Promise<readonly Delivery[]> {
  if (plan?.deliver === undefined) return [];
  const found = await readEach(plan.items, async ({ key }) => {
    const delivery = deliveryOf(await readOrNull(results, { runId, key, name: 'delivery.json' }));
    if (delivery === null) return [];
    const { commits, ...rest } = delivery;
    return [{ key, commit: commits.at(-1) ?? null, ...rest }];
  });
  return found.flat();
}

function deliveryOf(bytes: Uint8Array | null): z.infer<typeof schema> | null {
  if (bytes === null) return null;
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}
