/**
 * `placement.pool`: sandboxes that a run keeps for itself.
 * Owns shapes and bounds; who is placed where is decided in core/placement/place-in-pool.ts.
 * No key here sets an idle or deletion limit or the length of a session (D10).
 */
import { z } from 'zod';

import { duration } from './amounts.ts';
import * as rules from './text-rule.ts';

/** More sandboxes than a plan may have conversations are of no use. */
const SIZE_MAX = 10_000;
const PLACES_MAX = 1_000;
const RECYCLE_MAX = 1_000_000;

const recycle = z
  .strictObject({
    after: z
      .number()
      .int()
      .min(1)
      .max(RECYCLE_MAX)
      .meta({ description: 'Conversations ever placed in one sandbox.' })
      .optional(),
    max_age: duration('Age at which a sandbox takes no more.').optional(),
  })
  .meta({ description: 'When a sandbox takes no more conversations; another one takes its place.' });

export const poolSchema = z
  .strictObject({
    size: z.number().int().min(1).max(SIZE_MAX).meta({ description: 'Sandboxes of the run at most.' }),
    max_per_sandbox: z
      .number()
      .int()
      .min(1)
      .max(PLACES_MAX)
      .meta({ description: 'Conversations at work in one sandbox at once.' })
      .optional(),
    affinity: rules
      .text(rules.AFFINITY, 'Template; who has the same value shares sandboxes while there is room.')
      .optional(),
    recycle: recycle.optional(),
    on_full: z
      .enum(['wait', 'spill', 'fail'])
      .meta({ description: 'What becomes of a conversation that the pool has no place for.' })
      .optional(),
    warm: z.boolean().meta({ description: 'The sandboxes boot when the run begins.' }).optional(),
  })
  .meta({ description: 'Sandboxes that the run keeps for itself.' });
