/**
 * What is kept of a delivery beside the results of its item: `delivery.json`.
 * Owns the shape only.
 */
import { z } from 'zod';
import type { DeliveryState } from '../../core/run/items/item-evidence.ts';

/** Of the file. */
export const DELIVERY_FORMAT = 1;

const pullRequestSchema = z.object({
  /** `closed` and `merged`: a user of the code host has ended it, and it is left alone. */
  state: z.enum(['opened', 'updated', 'closed', 'merged', 'failed']),
  /** Null where it is not known that there is one. */
  number: z.number().nullable(),
  url: z.string().nullable(),
  /** What exists, but not as the job says. */
  notes: z.array(z.string()),
  /** Code, sentence and remedy of a failure; null otherwise. */
  problem: z.object({ code: z.string(), message: z.string(), remedy: z.string().nullable() }).nullable(),
});

export type PullRequestEvidence = z.infer<typeof pullRequestSchema>;

/** As it is read back. */
export const deliverySchema = z.object({
  format: z.literal(DELIVERY_FORMAT),
  state: z.enum(['pushing', 'pushed', 'nothing', 'failed']) satisfies z.ZodType<DeliveryState>,
  repository: z.string(),
  branch: z.string(),
  /** Newest last: every commit that was ever about to be pushed to the branch. */
  commits: z.array(z.string()),
  /** Code and sentence of a failure; null otherwise. */
  problem: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** Absent where the job asks for none, and before the branch is there. */
  pullRequest: pullRequestSchema.optional(),
  /** Epoch milliseconds. */
  at: z.number(),
});

export type DeliveryEvidence = z.infer<typeof deliverySchema>;
