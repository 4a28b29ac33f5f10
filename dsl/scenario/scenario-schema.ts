/**
 * The whole scenario file in its long form, closed at every level.
 * Owns the top level, policy, events and expectations; behaviour-schema.ts has the models, overrides-schema.ts the job's guards.
 * No key sets the length of a session (D10).
 */
import { z } from 'zod';

import { HOST_STRATEGIES } from '../../core/placement/choose-host.ts';
import { HOST_NAME, hostLabels, STRATEGY_WORDS } from '../schema/job-schema.ts';
import { durationOrNone } from '../schema/run-schema.ts';
import { amount, duration } from '../schema/amounts.ts';
import * as rules from '../schema/text-rule.ts';
import { arrivalsSchema } from './arrivals-schema.ts';
import { behaviourSchema, expression, runtimeSchema } from './behaviour-schema.ts';
import { overridesSchema } from './overrides-schema.ts';

const SANDBOXES_MAX = 100_000;
const CONVERSATIONS_MAX = 1_000;
const CONCURRENCY_MAX = 10_000;
/** Expectations are looked at after every step. */
const EXPECTATIONS_MAX = 200;
const EVENTS_MAX = 10_000;
const RULES_MAX = 1_000;
const MESSAGE_MAX = 10_000;
const NAME_MAX = 200;
const STATUS_MIN = 400;
const STATUS_MAX = 599;

export const SANDBOX_ACTIONS = [
  'crash',
  'lose',
  'disconnect',
  'reconnect',
  'pause',
  'resume',
  'delete',
] as const;
export const CONVERSATION_ACTIONS = ['interrupt', 'access', 'confirm', 'remove'] as const;
export const HOST_INCIDENTS = ['lost', 'cut_off', 'slow', 'drained'] as const;
export const PICKS = ['oldest', 'newest', 'longest_idle', 'all'] as const;
/** Keys of which an event has exactly one. */
export const ACTION_KEYS = [
  'sandbox',
  'conversation',
  'message',
  'gateway',
  'host',
  'run',
  'concurrency',
] as const;
/** Keys of which an expectation has exactly one. */
export const EXPECTATION_KEYS = ['at', 'always', 'never', 'eventually', 'end'] as const;

const oneOfThese = (keys: readonly string[]) => ({ oneOf: keys.map((key) => ({ required: [key] })) });
const count = (max: number, description: string) => z.number().int().min(1).max(max).meta({ description });
const text = (max: number, description: string) => z.string().min(1).max(max).meta({ description });

const clock = z
  .strictObject({
    start: rules.text(rules.INSTANT, 'Instant at which the clock starts, in UTC.').optional(),
    until: duration('How long the clock runs.').optional(),
  })
  .meta({ description: 'The virtual clock.' });

const policy = z
  .strictObject({
    idle_time: durationOrNone('Time without activity until a sandbox is released; none: never.').optional(),
    deletion_time: durationOrNone('Time until a released sandbox is deleted; none: never.').optional(),
    capacity: z
      .strictObject({
        sandboxes: count(SANDBOXES_MAX, 'Sandboxes with the runtime up, in all (D17).').optional(),
        sandboxes_per_user: count(SANDBOXES_MAX, 'Sandboxes with the runtime up, per user (D17).').optional(),
        conversations_per_sandbox: count(CONVERSATIONS_MAX, 'Conversations of one sandbox (D16).').optional(),
        on_full: z
          .enum(['refuse', 'queue', 'pause_longest_idle'])
          .meta({ description: 'What happens when no slot is free (D17).' })
          .optional(),
      })
      .meta({ description: 'How many sandboxes may be up (D17).' })
      .optional(),
    grouping: z
      .enum(STRATEGY_WORDS)
      .meta({ description: 'Placement where the job says nothing (D16).' })
      .optional(),
    hosts: z
      .record(
        rules.text(HOST_NAME),
        z.strictObject({
          capacity: count(SANDBOXES_MAX, 'Sandboxes with the runtime up on this host.'),
          labels: hostLabels.meta({ description: 'Labels of the host.' }).optional(),
        }),
      )
      .meta({ description: 'The hosts on which sandboxes live, by name; without them, on none (D33).' })
      .optional(),
    host: z
      .strictObject({
        placement: z
          .enum(HOST_STRATEGIES)
          .meta({ description: 'Which host gets the next sandbox; spread when left out.' })
          .optional(),
        lease: duration('Silence after which a host gets no sandboxes; a minute when left out.').optional(),
        lost_after: duration(
          'Silence beyond its lease after which a host is given up; 5 minutes when left out.',
        ).optional(),
      })
      .meta({ description: 'What holds of every host (D33).' })
      .optional(),
  })
  .meta({ description: 'What an operator decides; absent keys keep the values of the deployment (D10).' });

const price = z
  .strictObject({
    input: amount('USD per million input tokens.'),
    output: amount('USD per million output tokens.'),
    cached_input: amount('USD per million cached input tokens; without it, the price of input.').optional(),
  })
  .meta({ description: 'Price of one model.' });

export const probability = (description: string) => z.number().min(0).max(1).meta({ description });

const event = z
  .strictObject({
    at: duration('When, from the beginning.'),
    sandbox: z.enum(SANDBOX_ACTIONS).meta({ description: 'What happens to the sandbox.' }).optional(),
    conversation: z
      .enum(CONVERSATION_ACTIONS)
      .meta({ description: 'What somebody does with the conversation.' })
      .optional(),
    message: z
      .strictObject({
        to: text(
          NAME_MAX,
          'Key of the conversation; in its place "pick" can stand beside "message".',
        ).optional(),
        text: text(MESSAGE_MAX, 'What is said.'),
      })
      .meta({ description: 'A message to the agent.' })
      .optional(),
    gateway: z
      .strictObject({
        status: z
          .number()
          .int()
          .min(STATUS_MIN)
          .max(STATUS_MAX)
          .meta({ description: 'HTTP status of every answer.' }),
        for: duration('For how long.'),
      })
      .meta({ description: 'The gateway refuses.' })
      .optional(),
    host: z
      .strictObject({
        name: text(NAME_MAX, 'Name of a host of the policy.'),
        is: z.enum(HOST_INCIDENTS).meta({
          description: 'What happens to it: its machine is gone, nobody reaches it, it is slow, it drains.',
        }),
        for: duration('For how long.'),
      })
      .meta({ description: 'Something happens to a host.' })
      .optional(),
    run: z.enum(['cancel', 'drain']).meta({ description: 'What somebody does with the run.' }).optional(),
    concurrency: count(CONCURRENCY_MAX, 'Conversations in flight at once, from now on.').optional(),
    key: text(NAME_MAX, 'Key of the conversation that this is about, or whose sandbox.').optional(),
    pick: z.enum(PICKS).meta({ description: 'Which of those that are up this is about.' }).optional(),
  })
  .meta({ description: 'One event at one instant.', ...oneOfThese(ACTION_KEYS) });

const expectation = z
  .strictObject({
    at: duration('Holds at this instant.').optional(),
    always: expression('Holds after every step.').optional(),
    never: expression('Holds after no step.').optional(),
    eventually: expression('Holds at some instant.').optional(),
    end: expression('Holds when the clock stops.').optional(),
    that: expression('What holds, beside "at".').optional(),
    within: duration('Tolerance of "at"; bound of "eventually", from the beginning.').optional(),
    name: text(NAME_MAX, 'Name in reports; without it, the expression.').optional(),
    why: text(MESSAGE_MAX, 'Why it must hold.').optional(),
    level: z
      .enum(['error', 'warn'])
      .meta({ description: 'warn: it is printed and nothing fails.' })
      .optional(),
  })
  .meta({ description: 'What must hold.', ...oneOfThese(EXPECTATION_KEYS) });

export const scenarioSchema = z
  .strictObject({
    kind: z.literal('scenario').meta({ description: 'What the file is.' }),
    version: z.literal(1).meta({ description: 'Version of the language.' }),
    name: rules.text({ ...rules.JOB_NAME, what: 'a name of a scenario' }, 'Name of the scenario.'),
    description: z.string().max(2_000).meta({ description: 'A text for people.' }).optional(),
    job: rules.text(
      { ...rules.LOCAL_PATH, remedy: 'write a path relative to the scenario file, with forward slashes' },
      'Path of the job file, relative to this one.',
    ),
    overrides: overridesSchema.optional(),
    clock: clock.optional(),
    seed: z
      .number()
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .meta({ description: 'Of all chance.' })
      .optional(),
    policy: policy.optional(),
    runtime: runtimeSchema.optional(),
    model: z
      .strictObject({
        default: behaviourSchema.meta({ description: 'Of every conversation.' }).optional(),
        where: z
          .array(z.strictObject({ when: expression('Condition over "item".'), ...behaviourSchema.shape }))
          .max(RULES_MAX)
          .meta({ description: 'The first rule whose condition holds for an item adds to the default.' })
          .optional(),
      })
      .meta({ description: 'How agents work.' })
      .optional(),
    prices: z
      .record(rules.text(rules.MODEL), price)
      .meta({ description: 'USD per million tokens by model; "default" for every other.' })
      .optional(),
    faults: z
      .record(z.string(), probability('At each opportunity.'))
      .meta({ description: 'Probability of each kind of fault.' })
      .optional(),
    arrivals: arrivalsSchema.optional(),
    events: z.array(event).max(EVENTS_MAX).meta({ description: 'What happens when.' }).optional(),
    expect: z.array(expectation).max(EXPECTATIONS_MAX).meta({ description: 'What must hold.' }).optional(),
  })
  .meta({
    title: 'Parley scenario',
    description: 'A job, a policy, models of the world, and what must hold.',
  });

export type ScenarioDocument = z.infer<typeof scenarioSchema>;
export type PriceDocument = z.infer<typeof price>;
export type EventDocument = z.infer<typeof event>;
export type ExpectationDocument = z.infer<typeof expectation>;
