/**
 * What is pushed to the repositories.
 * Owns the keys of `deliver`; how a branch is pushed is no business of the language.
 */
import { z } from 'zod';

import { scalarAs, SHORTHANDS } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** The first line of a commit is read in lists. */
const MESSAGE_LENGTH_MAX = 500;

export const DELIVER_WORDS = ['succeeded', 'always'] as const;

export const deliverSchema = z
  .strictObject({
    branch: rules.text(rules.DELIVER_BRANCH, 'Name of the branch, with {key} in it.'),
    message: z
      .string()
      .min(1)
      .max(MESSAGE_LENGTH_MAX)
      .meta({ description: 'Message of the commit; {job}, {run} and {key} are filled in.' })
      .optional(),
    when: z.enum(DELIVER_WORDS).meta({ description: 'Which conversations push a branch.' }).optional(),
  })
  .meta({ description: 'Pushes a branch with the result of each conversation to its repository.' })
  .register(SHORTHANDS, scalarAs('branch'));
