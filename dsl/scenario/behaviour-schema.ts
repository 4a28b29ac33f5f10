/**
 * How agents and runtimes behave, as a scenario writes it.
 * Owns shapes and bounds of models; what needs more than one value is checked in check-figures.ts.
 */
import { z } from 'zod';

import { duration, flag, listOf } from '../schema/amounts.ts';
import { SHORTHANDS } from '../schema/shorthand.ts';
import * as rules from '../schema/text-rule.ts';
import { asExpression, distributionForm, tokensAsWritten } from './scenario-form.ts';

/** UTF-16 units; the engine of expressions has a bound of its own. */
const EXPRESSION_MAX = 10_000;
const GAPS_MAX = 100;

export const expression = (description: string) =>
  z.string().max(EXPRESSION_MAX).meta({ description }).register(SHORTHANDS, asExpression);

const tokens = () => rules.text(rules.TOKENS).register(SHORTHANDS, tokensAsWritten);

function distribution<Value extends z.ZodString>(value: () => Value, description: string) {
  return z
    .discriminatedUnion('dist', [
      z.strictObject({ dist: z.literal('fixed'), value: value() }),
      z.strictObject({ dist: z.literal('uniform'), min: value(), max: value() }),
      z.strictObject({ dist: z.literal('lognormal'), p50: value(), p95: value() }),
      z.strictObject({ dist: z.literal('exponential'), mean: value() }),
    ])
    .meta({ description })
    .register(SHORTHANDS, distributionForm);
}

export const times = (description: string) => distribution(() => duration('Length of time.'), description);
const counts = (description: string) => distribution(tokens, description);
export const share = (description: string) => z.number().min(0).max(1).meta({ description });
const weight = z.number().min(0).max(1_000_000).meta({ description: 'Weight beside the others.' }).optional();

export const runtimeSchema = z
  .strictObject({
    sandbox: z
      .strictObject({
        boot: times('From the order to a ready Agent Server.').optional(),
        resume: times('From the order to a ready Agent Server, with kept files.').optional(),
        stop: times('Until the runtime is down.').optional(),
        archive: times('Until the archive is written.').optional(),
        remove: times('Until nothing is left.').optional(),
      })
      .meta({ description: 'How long the runtime takes.' })
      .optional(),
  })
  .meta({ description: 'The platform below the sandboxes.' });

export const behaviourSchema = z.strictObject({
  duration: times('Working time that a message causes.').optional(),
  input_tokens: counts('Input tokens of the work.').optional(),
  output_tokens: counts('Output tokens of the work.').optional(),
  outcome: z
    .strictObject({ FINISHED: weight, ERROR: weight, STUCK: weight })
    .meta({ description: 'Weights of how work ends.' })
    .optional(),
  gaps: listOf(
    z.strictObject({
      at: duration('From which time of the work on.'),
      idle: duration('How long nothing happens.'),
      lease: flag('A tool holds a lease, so it is not idle (D9).').optional(),
    }),
    GAPS_MAX,
    'Quiet stretches.',
  ).optional(),
  confirmation: z
    .strictObject({
      share: share('Share of works that ask.'),
      answer_after: times('Until somebody answers; without it, nobody does.').optional(),
    })
    .meta({ description: 'Work that asks for a confirmation.' })
    .optional(),
  rate_limit: z
    .strictObject({ share: share('Share of works that meet one.'), wait: times('How long it lasts.') })
    .meta({ description: 'Work that meets a rate limit.' })
    .optional(),
});

export type BehaviourDocument = z.infer<typeof behaviourSchema>;
export type RuntimeDocument = z.infer<typeof runtimeSchema>;
/** Values are durations or counts of tokens, as written. */
export type DistributionDocument = NonNullable<BehaviourDocument['duration']>;
