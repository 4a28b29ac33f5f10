/**
 * Which branches a run has pushed, as the evidence beside its results says.
 * Owns the reading; must not push anything.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Plan } from '../core/plan/plan.ts';

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
export function readDeliveries(plan: Plan | null, results: string): readonly Delivery[] {
  if (plan?.deliver === undefined) return [];
  return plan.items.flatMap(({ key }) => {
    const delivery = readDelivery(path.join(results, key, 'delivery.json'));
    if (delivery === null) return [];
    const { commits, ...rest } = delivery;
    return [{ key, commit: commits.at(-1) ?? null, ...rest }];
  });
}

function readDelivery(file: string): z.infer<typeof schema> | null {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
