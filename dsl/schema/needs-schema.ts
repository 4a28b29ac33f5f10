/**
 * `needs` of a conversation: the entries that must have ended before it starts.
 * Owns the shape; whether the entries exist, and go in a circle, is checked in check/check-needs.ts.
 */
import { z } from 'zod';

import { flag, oneOf, oneOrMore } from './amounts.ts';
import { SHORTHANDS, scalarAs } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** More stages than this before one conversation are a pipeline of several jobs. */
const NEEDS_MAX = 20;

const need = z
  .strictObject({
    entry: rules.text(rules.ENTRY_ID, 'Id of the conversation that is waited for.'),
    outcome: oneOf(
      ['succeeded', 'failed', 'ended'],
      'Runs if it succeeded, if it failed, or however it ended.',
    ).optional(),
    each: flag('Only its combination with the same values, instead of all of them.').optional(),
  })
  .meta({ description: 'A stage that comes first.' })
  .register(SHORTHANDS, scalarAs('entry'));

export const needsSchema = oneOrMore(
  need,
  NEEDS_MAX,
  'Conversations that must have ended before this one starts.',
);

export type NeedsDocument = z.infer<typeof needsSchema>;
