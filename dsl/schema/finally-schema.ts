/**
 * What a job does when its run has ended, however it ended.
 * Owns the keys of `finally`; how a message is sent is no business of the language.
 */
import { z } from 'zod';

import { duration, line, oneOf } from './amounts.ts';
import { addressForm, scalarAs, SHORTHANDS, type Shorthand } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** What a person reads in a line or two. */
const TEXT_LENGTH_MAX = 500;
/** Each of them may take its time, and the run waits for all. */
const STEPS_MAX = 20;

const NOTIFY_WORDS = ['always', 'succeeded', 'failed'] as const;

const address = z
  .discriminatedUnion('from', [
    z.strictObject({ from: z.literal('url'), url: rules.text(rules.WEBHOOK) }),
    z.strictObject({ from: z.literal('secret'), secret: rules.text(rules.SECRET_NAME) }),
  ])
  .meta({ description: 'Address of the receiver, or {secret: NAME} for one that a secret holds.' })
  .register(SHORTHANDS, addressForm);

/** Text stands for the receiver; one whose address is a secret is written as a map. */
const notifyForm: Shorthand = {
  normalise: scalarAs('to').normalise,
  jsonSchema: (long) => ({
    anyOf: [
      { type: 'string', pattern: rules.WEBHOOK.pattern.source, description: 'Address of the receiver.' },
      long,
    ],
  }),
};

const notify = z
  .strictObject({
    to: address,
    key: rules.text(rules.SECRET_NAME, 'Secret that signs the message.').optional(),
    text: line(
      TEXT_LENGTH_MAX,
      'What is said; {job}, {run}, {status}, {succeeded}, {total} and {usd} are filled in.',
    ).optional(),
    when: oneOf(NOTIFY_WORDS, 'Of which runs it is told.').optional(),
    timeout: duration('Time for all tries together.').optional(),
  })
  .meta({ description: 'Tells a webhook how the run has ended.' })
  .register(SHORTHANDS, notifyForm);

export const finallySchema = z
  .array(z.strictObject({ notify }))
  .min(1)
  .max(STEPS_MAX)
  .meta({ description: 'What is done when the run has ended, in this order.' });
