/**
 * The keys of a job that say how its run goes: admission, needs, budget, retry, breaker, wait, cleanup, tolerate.
 * Owns their shapes and bounds; what they mean while a run goes on is decided in core/run/.
 * No key here sets an idle or deletion limit or the length of a session (D10).
 */
import { z } from 'zod';

import { FAILURE_CLASSES, type ExecutionStatus } from '../../core/status.ts';
import { amount, duration, listOf, oneOf, oneOrMore, positiveAmount, whole } from './amounts.ts';
import { asWritten, scalarAs, SHORTHANDS } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** More conversations than a plan may hold cannot be in flight, fail or be tolerated. */
const CONVERSATIONS_MAX = 10_000;
const CONCURRENCY_MAX = 10_000;
const ATTEMPTS_MAX = 100;
const FACTOR_MAX = 100;
const LIST_MAX = 100;
/** What fits into 32 bits: the mix of the order works on them. */
const SEED_MAX = 2 ** 32 - 1;

/** Statuses that can end the wait for a conversation; IDLE and RUNNING cannot. */
export const AWAITED_STATUSES = [
  'FINISHED',
  'ERROR',
  'STUCK',
  'WAITING_FOR_CONFIRMATION',
  'PAUSED',
] as const satisfies readonly ExecutionStatus[];

const failureClasses = (description: string) => oneOrMore(z.enum(FAILURE_CLASSES), LIST_MAX, description);

/** Fields whose values can have a limit of their own; after a tag or an axis comes its name, after a name a value. */
const KEYED_LIMIT: rules.TextRule = {
  code: 'JOB208',
  pattern:
    /^(?:(?:repo|model|entry)(?:\..{1,200})?|tags\.[a-z0-9]+(?:\..{1,200})?|matrix\.[A-Za-z][A-Za-z0-9_]{0,30}(?:\..{1,200})?)$/,
  what: 'a field with limits',
  remedy: 'write repo, model, entry, tags.NAME or matrix.AXIS, and ".VALUE" behind it for one value alone',
};
export const RATE: rules.TextRule = {
  code: 'JOB206',
  pattern: /^[1-9]\d{0,5}\/(?:s|min|h)$/,
  what: 'a rate',
  remedy: 'write starts per s, min or h, such as 30/min',
};
const SHARE: rules.TextRule = {
  code: 'JOB205',
  pattern: /^(?:[1-9]\d?|100)%$/,
  what: 'a share',
  remedy: 'write a percentage from 1% to 100%, such as 80%',
};

const adaptive = z
  .strictObject({
    on: failureClasses('Failures that halve the places.').optional(),
    min: whole(1, CONCURRENCY_MAX, 'Never fewer places.').optional(),
  })
  .meta({ description: 'Halves the places on these failures, and gives them back one by one.' });

export const admissionSchema = z
  .strictObject({
    concurrency: whole(1, CONCURRENCY_MAX, 'Conversations in flight at once.').optional(),
    per: z
      .record(rules.text(KEYED_LIMIT), z.number().int().min(1).max(CONCURRENCY_MAX))
      .meta({ description: 'At once with the same value, such as {repo: 1, model.strong: 30}.' })
      .optional(),
    rate: rules.text(RATE, 'Starts at most, evenly spread, such as 30/min.').optional(),
    ramp: duration('Time over which the first wave is spread.').optional(),
    adaptive: adaptive.optional(),
    order: oneOf(['priority', 'position', 'shuffle'], 'Who starts first.').optional(),
    seed: whole(0, SEED_MAX, 'Of "order: shuffle"; another seed gives another order.').optional(),
    canary: whole(
      1,
      CONVERSATIONS_MAX,
      'So many go first; the others start only if all of these succeed.',
    ).optional(),
  })
  .meta({ description: 'How many conversations are in flight at once.' });

export const budgetSchema = z
  .strictObject({
    usd: positiveAmount('Spend of the whole run in USD.'),
    reserve: amount('Held for one conversation before it starts.').optional(),
    mode: oneOf(['observe', 'audit', 'enforce'], 'Count, warn, or stop starting.').optional(),
    soft: rules.text(SHARE, 'Share of the budget at which the run says so, such as 80%.').optional(),
    on_exceeded: oneOf(['pause', 'drain', 'cancel'], 'What an exceeded budget does to the run.').optional(),
  })
  .meta({ description: 'What the run may spend.' });

const retryRule = z.strictObject({
  on: failureClasses('Failures that are tried again.'),
  attempts: whole(0, ATTEMPTS_MAX, 'Extra attempts.'),
  backoff: z
    .strictObject({
      initial: duration('Pause before the first extra attempt.').optional(),
      factor: z.number().min(1).max(FACTOR_MAX).meta({ description: 'Growth of the pause.' }).optional(),
      max: duration('Longest pause.').optional(),
    })
    .meta({ description: 'How long an extra attempt waits.' })
    .optional(),
});

export const retrySchema = listOf(
  retryRule,
  LIST_MAX,
  'Retries by failure class; the first rule that names the class wins.',
);

export const breakerSchema = z
  .strictObject({
    on: failureClasses('Failures that are counted.'),
    window: duration('Stretch of time in which failures are counted.'),
    count: whole(1, CONVERSATIONS_MAX, 'Failures that pause the run.'),
    recover: z
      .strictObject({
        after: duration('How long nothing starts.'),
        probes: whole(
          1,
          CONVERSATIONS_MAX,
          'So many start then; the others when these went well.',
        ).optional(),
      })
      .meta({ description: 'Lets some conversations try by itself, instead of pausing the run.' })
      .register(SHORTHANDS, scalarAs('after'))
      .optional(),
  })
  .meta({ description: 'Stops starting when failures of these classes pile up.' });

/** A limit that can be switched off with the word none. */
export const durationOrNone = (description: string) => {
  const pattern = new RegExp(`^none$|${rules.DURATION.pattern.source}`);
  const remedy = `${rules.DURATION.remedy}, or none`;
  return rules.text({ ...rules.DURATION, pattern, remedy }, description).register(SHORTHANDS, asWritten);
};

export const waitSchema = z
  .strictObject({
    until: oneOrMore(z.enum(AWAITED_STATUSES), LIST_MAX, 'Statuses that end the wait.').optional(),
    deadline: durationOrNone(
      'Time from admission; none of it counts in which the machine was suspended.',
    ).optional(),
    no_progress: durationOrNone('Time without an event of the agent.').optional(),
    on_session_limit: oneOf(
      ['resume', 'stop'],
      'What becomes of work that the session limit cut off (D15).',
    ).optional(),
  })
  .meta({ description: 'When a conversation counts as ended.' });

export const cleanupSchema = z
  .strictObject({
    sandbox: oneOf(['delete', 'pause', 'keep'], 'What becomes of the sandbox.').optional(),
    conversation: oneOf(['keep', 'delete'], 'What becomes of the conversation.').optional(),
    on_collect_failure: oneOf(
      ['keep', 'delete'],
      'What becomes of the sandbox when something could not be collected.',
    ).optional(),
  })
  .meta({ description: 'What becomes of sandbox and conversation after collection.' });

export const tolerateSchema = z
  .strictObject({
    failed: whole(0, CONVERSATIONS_MAX, 'Failed conversations that still count as success.'),
  })
  .meta({ description: 'Failures that still count as success.' });
