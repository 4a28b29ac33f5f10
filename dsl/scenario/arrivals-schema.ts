/**
 * When items of the job and conversations of the API come, as a scenario writes it.
 * Owns shapes and bounds of arrivals; which keys stand together is checked in check-arrivals.ts.
 */
import { z } from 'zod';

import { DURATION_PATTERN } from '../duration.ts';
import { RATE } from '../schema/run-schema.ts';
import * as rules from '../schema/text-rule.ts';
import { whole } from '../schema/amounts.ts';
import { times } from './behaviour-schema.ts';

/** As many as events: each of them is one. */
const ARRIVALS_MAX = 10_000;

/** Keys of which one kind of arrivals has exactly one. */
export const ARRIVAL_KEYS = ['rate', 'every', 'at'] as const;

const ARRIVAL_RATE: rules.TextRule = { ...RATE, remedy: 'write arrivals per s, min or h, such as 30/h' };
/** From the beginning, or in UTC. */
const MOMENT: rules.TextRule = {
  code: 'SCN206',
  pattern: new RegExp(`(?:${DURATION_PATTERN.source})|(?:${rules.INSTANT.pattern.source})`),
  what: 'a time from the beginning, nor an instant',
  remedy:
    'write how long after the beginning, such as 10m, or an instant in UTC, such as 2026-01-01T00:00:00Z',
};

const shape = {
  rate: rules
    .text(ARRIVAL_RATE, 'How many come on average, each by itself: the time between two is exponential.')
    .optional(),
  every: times('Time from one to the next, and from the beginning to the first.').optional(),
  at: z
    .array(rules.text(MOMENT))
    .min(1)
    .max(ARRIVALS_MAX)
    .meta({ description: 'When each of them comes, from the beginning or in UTC.' })
    .optional(),
};

const oneOf = ARRIVAL_KEYS.map((key) => ({ required: [key] }));

export const arrivalsSchema = z
  .strictObject({
    items: z
      .strictObject(shape)
      .meta({ description: 'When the items of the job come, in the order of the plan.', oneOf })
      .optional(),
    conversations: z
      .strictObject({
        ...shape,
        count: whole(1, ARRIVALS_MAX, 'How many come; beside "rate" and "every".').optional(),
      })
      .meta({ description: 'Conversations that somebody starts over the API, beside the run.', oneOf })
      .optional(),
  })
  .meta({ description: 'What comes over time; without it every item is there from the beginning.' });

export type ArrivalsDocument = z.infer<typeof arrivalsSchema>;
