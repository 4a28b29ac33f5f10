/**
 * The whole scenario file in its long form, closed at every level.
 * Owns the top level, policy, events and expectations; behaviour-schema.ts has the models, overrides-schema.ts the job's guards.
 * No key sets the length of a session (D10).
 */
import { z } from 'zod';

import { HOST_STRATEGIES } from '../../core/placement/choose-host.ts';
import { HOST_NAME, hostLabels, STRATEGY_WORDS } from '../schema/job-schema.ts';
import { durationOrNone } from '../schema/run-schema.ts';
import { amount, duration, line, listOf, oneOf, whole } from '../schema/amounts.ts';
import * as rules from '../schema/text-rule.ts';
import { arrivalsSchema } from './arrivals-schema.ts';
import { behaviourSchema, expression, runtimeSchema, share } from './behaviour-schema.ts';
import { overridesSchema } from './overrides-schema.ts';

const SANDBOXES_MAX = 100_000;
const CONVERSATIONS_MAX = 1_000;
const CONCURRENCY_MAX = 10_000;
const EXPECTATIONS_MAX = 200;
const EVENTS_MAX = 10_000;
const RULES_MAX = 1_000;
const MESSAGE_MAX = 10_000;
const NAME_MAX = 200;
const STATUS_MIN = 400;
const STATUS_MAX = 599;

const FULL_WORDS = ['refuse', 'queue', 'pause_longest_idle'] as const;
const SANDBOX_ACTIONS = ['crash', 'lose', 'disconnect', 'reconnect', 'pause', 'resume', 'delete'] as const;
const CONVERSATION_ACTIONS = ['interrupt', 'access', 'confirm', 'remove'] as const;
const HOST_INCIDENTS = ['lost', 'cut_off', 'slow', 'drained'] as const;
const PICKS = ['oldest', 'newest', 'longest_idle', 'all'] as const;
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
        sandboxes: whole(1, SANDBOXES_MAX, 'Sandboxes with the runtime up, in all (D17).').optional(),
        sandboxes_per_user: whole(
          1,
          SANDBOXES_MAX,
          'Sandboxes with the runtime up, per user (D17).',
        ).optional(),
        conversations_per_sandbox: whole(
          1,
          CONVERSATIONS_MAX,
          'Conversations of one sandbox (D16).',
        ).optional(),
        on_full: oneOf(FULL_WORDS, 'What happens when no slot is free (D17).').optional(),
      })
      .meta({ description: 'How many sandboxes may be up (D17).' })
      .optional(),
    grouping: oneOf(STRATEGY_WORDS, 'Placement where the job says nothing (D16).').optional(),
    hosts: z
      .record(
        rules.text(HOST_NAME),
        z.strictObject({
          capacity: whole(1, SANDBOXES_MAX, 'Sandboxes with the runtime up on this host.'),
          labels: hostLabels.meta({ description: 'Labels of the host.' }).optional(),
        }),
      )
      .meta({ description: 'The hosts on which sandboxes live, by name; without them, on none (D33).' })
      .optional(),
    host: z
      .strictObject({
        placement: oneOf(
          HOST_STRATEGIES,
          'Which host gets the next sandbox; spread when left out.',
        ).optional(),
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

const event = z
  .strictObject({
    at: duration('When, from the beginning.'),
    sandbox: oneOf(SANDBOX_ACTIONS, 'What happens to the sandbox.').optional(),
    conversation: oneOf(CONVERSATION_ACTIONS, 'What somebody does with the conversation.').optional(),
    message: z
      .strictObject({
        to: line(
          NAME_MAX,
          'Key of the conversation; in its place "pick" can stand beside "message".',
        ).optional(),
        text: line(MESSAGE_MAX, 'What is said.'),
      })
      .meta({ description: 'A message to the agent.' })
      .optional(),
    gateway: z
      .strictObject({
        status: whole(STATUS_MIN, STATUS_MAX, 'HTTP status of every answer.'),
        for: duration('For how long.'),
      })
      .meta({ description: 'The gateway refuses.' })
      .optional(),
    host: z
      .strictObject({
        name: line(NAME_MAX, 'Name of a host of the policy.'),
        is: oneOf(
          HOST_INCIDENTS,
          'What happens to it: its machine is gone, nobody reaches it, it is slow, it drains.',
        ),
        for: duration('For how long.'),
      })
      .meta({ description: 'Something happens to a host.' })
      .optional(),
    run: oneOf(['cancel', 'drain'], 'What somebody does with the run.').optional(),
    concurrency: whole(1, CONCURRENCY_MAX, 'Conversations in flight at once, from now on.').optional(),
    key: line(NAME_MAX, 'Key of the conversation that this is about, or whose sandbox.').optional(),
    pick: oneOf(PICKS, 'Which of those that are up this is about.').optional(),
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
    name: line(NAME_MAX, 'Name in reports; without it, the expression.').optional(),
    why: line(MESSAGE_MAX, 'Why it must hold.').optional(),
    level: oneOf(['error', 'warn'], 'warn: it is printed and nothing fails.').optional(),
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
    seed: whole(0, Number.MAX_SAFE_INTEGER, 'Of all chance.').optional(),
    policy: policy.optional(),
    runtime: runtimeSchema.optional(),
    model: z
      .strictObject({
        default: behaviourSchema.meta({ description: 'Of every conversation.' }).optional(),
        where: listOf(
          z.strictObject({ when: expression('Condition over "item".'), ...behaviourSchema.shape }),
          RULES_MAX,
          'The first rule whose condition holds for an item adds to the default.',
        ).optional(),
      })
      .meta({ description: 'How agents work.' })
      .optional(),
    prices: z
      .record(rules.text(rules.MODEL), price)
      .meta({ description: 'USD per million tokens by model; "default" for every other.' })
      .optional(),
    faults: z
      .record(z.string(), share('At each opportunity.'))
      .meta({ description: 'Probability of each kind of fault.' })
      .optional(),
    arrivals: arrivalsSchema.optional(),
    events: listOf(event, EVENTS_MAX, 'What happens when.').optional(),
    expect: listOf(expectation, EXPECTATIONS_MAX, 'What must hold.').optional(),
  })
  .meta({
    title: 'Parley scenario',
    description: 'A job, a policy, models of the world, and what must hold.',
  });

export type ScenarioDocument = z.infer<typeof scenarioSchema>;
export type PriceDocument = z.infer<typeof price>;
export type EventDocument = z.infer<typeof event>;
export type ExpectationDocument = z.infer<typeof expectation>;
