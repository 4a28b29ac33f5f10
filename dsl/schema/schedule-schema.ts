/**
 * When a job runs by itself.
 * Owns the keys of `schedule`; what a cron expression may say is in dsl/schedule/.
 */
import { z } from 'zod';

import { duration, flag, oneOf } from './amounts.ts';
import { listOfOne, scalarAs, SHORTHANDS } from './shorthand.ts';

/** More instants than these are better said by a step. */
const CRON_MAX = 20;
const CRON_LENGTH_MAX = 200;
const ZONE_LENGTH_MAX = 64;

const OVERLAP_WORDS = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow_all'] as const;

export const scheduleSchema = z
  .strictObject({
    cron: z
      .array(z.string().max(CRON_LENGTH_MAX))
      .min(1)
      .max(CRON_MAX)
      .meta({ description: 'Cron expressions; it runs when one of them says so.' })
      .register(SHORTHANDS, listOfOne),
    timezone: z
      .string()
      .max(ZONE_LENGTH_MAX)
      .meta({ description: 'Name of the time zone that the expressions mean.' })
      .optional(),
    overlap: oneOf(OVERLAP_WORDS, 'What happens when the run before is still going on.').optional(),
    catchup: duration('How long ago a run may have been due that is made up for after an outage.').optional(),
    jitter: duration('Each run begins later by a random time up to this.').optional(),
    paused: flag('True: nothing runs until it is unpaused.').optional(),
  })
  .meta({ description: 'When the job runs by itself, on Temporal.' })
  .register(SHORTHANDS, scalarAs('cron'));
