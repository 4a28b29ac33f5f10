/**
 * The whole job file in its long form, closed at every level.
 * Owns the top level and what concerns the run as a whole; entries are in conversation-schema.ts.
 * No key here, or anywhere, sets an idle or deletion limit or the length of a session (D10).
 */
import { z } from 'zod';

import {
  FAILURE_CLASSES,
  GROUPING_STRATEGIES,
  type ExecutionStatus,
  type GroupingStrategy,
} from '../../core/status.ts';
import {
  amount,
  conversationSchema,
  defaultsSchema,
  duration,
  positiveAmount,
} from './conversation-schema.ts';
import { asText, asWritten, listOfOne, scalarAs, SHORTHANDS, wordOrMap } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** Above this, one run is better split: a plan is handed around as one document. */
const CONVERSATIONS_MAX = 10_000;
const CONCURRENCY_MAX = 10_000;
const ATTEMPTS_MAX = 100;
const FACTOR_MAX = 100;
const LIST_MAX = 100;

/** D16, in lower case as YAML spells them. */
export const STRATEGY_WORDS = GROUPING_STRATEGIES.map(
  (word) => word.toLowerCase() as Lowercase<GroupingStrategy>,
);
/** Statuses that can end the wait for a conversation; IDLE and RUNNING cannot. */
export const AWAITED_STATUSES = [
  'FINISHED',
  'ERROR',
  'STUCK',
  'WAITING_FOR_CONFIRMATION',
  'PAUSED',
] as const satisfies readonly ExecutionStatus[];

const secretReference = z.discriminatedUnion('from', [
  z.strictObject({
    from: z.literal('env'),
    name: rules.text(rules.SECRET_NAME, 'Environment variable of the engine.'),
  }),
  z.strictObject({
    from: z.literal('file'),
    path: rules.text(rules.SECRET_PATH, 'File that holds the value.'),
  }),
  z.strictObject({
    from: z.literal('store'),
    name: rules.text(rules.LABEL_NAME, 'Name in the secret store.'),
  }),
]);

const labelValue = z.string().max(256).register(SHORTHANDS, asText);

export const placementSchema = z
  .strictObject({
    strategy: z.enum(STRATEGY_WORDS).meta({ description: 'How a sandbox is chosen (D16).' }).optional(),
    sandbox: rules.text(rules.SANDBOX_ID, 'Id of one sandbox for every conversation.').optional(),
  })
  .meta({ description: "Where conversations run; without it the user's own setting decides (D16)." })
  .register(SHORTHANDS, scalarAs('strategy'));

export const admissionSchema = z
  .strictObject({ concurrency: z.number().int().min(1).max(CONCURRENCY_MAX).optional() })
  .meta({ description: 'How many conversations are in flight at once.' });

export const budgetSchema = z
  .strictObject({
    usd: positiveAmount('Spend of the whole run in USD.'),
    reserve: amount('Held for one conversation before it starts.').optional(),
    mode: z
      .enum(['observe', 'audit', 'enforce'])
      .meta({ description: 'Count, warn, or stop starting.' })
      .optional(),
  })
  .meta({ description: 'What the run may spend.' });

const failureClasses = z.array(z.enum(FAILURE_CLASSES)).min(1).max(LIST_MAX).register(SHORTHANDS, listOfOne);

const retryRule = z.strictObject({
  on: failureClasses,
  attempts: z.number().int().min(0).max(ATTEMPTS_MAX).meta({ description: 'Extra attempts.' }),
  backoff: z
    .strictObject({
      initial: duration('Pause before the first extra attempt.').optional(),
      factor: z.number().min(1).max(FACTOR_MAX).meta({ description: 'Growth of the pause.' }).optional(),
      max: duration('Longest pause.').optional(),
    })
    .optional(),
});

export const retrySchema = z
  .array(retryRule)
  .max(LIST_MAX)
  .meta({ description: 'Retries by failure class; the first rule that names the class wins.' });

const breaker = z
  .strictObject({
    on: failureClasses,
    window: duration('Stretch of time in which failures are counted.'),
    count: z
      .number()
      .int()
      .min(1)
      .max(CONVERSATIONS_MAX)
      .meta({ description: 'Failures that pause the run.' }),
  })
  .meta({ description: 'Pauses the run when failures of these classes pile up.' });

/** A limit that can be switched off with the word none. */
export const durationOrNone = (description: string) => {
  const pattern = new RegExp(`^none$|${rules.DURATION.pattern.source}`);
  const remedy = `${rules.DURATION.remedy}, or none`;
  return rules.text({ ...rules.DURATION, pattern, remedy }, description).register(SHORTHANDS, asWritten);
};

export const waitSchema = z
  .strictObject({
    until: z.array(z.enum(AWAITED_STATUSES)).min(1).max(LIST_MAX).register(SHORTHANDS, listOfOne).optional(),
    deadline: durationOrNone('Wall time from admission.').optional(),
    no_progress: durationOrNone('Time without an event of the agent.').optional(),
    on_session_limit: z
      .enum(['resume', 'stop'])
      .meta({ description: 'What becomes of work that the session limit cut off (D15).' })
      .optional(),
  })
  .meta({ description: 'When a conversation counts as ended.' });

const globs = z.array(rules.text(rules.GLOB)).min(1).max(LIST_MAX);
const globsJson = {
  type: 'array',
  items: { type: 'string', pattern: rules.GLOB.pattern.source },
  minItems: 1,
  maxItems: LIST_MAX,
};

const collectStep = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('trajectory') }),
    z.strictObject({ kind: z.literal('diff') }),
    z.strictObject({ kind: z.literal('usage') }),
    z.strictObject({ kind: z.literal('files'), globs }),
  ])
  .register(
    SHORTHANDS,
    wordOrMap({
      discriminator: 'kind',
      words: ['trajectory', 'diff', 'usage'],
      keyed: { key: 'files', field: 'globs', schema: globsJson },
    }),
  );

export const cleanupSchema = z
  .strictObject({
    sandbox: z.enum(['delete', 'pause', 'keep']).optional(),
    conversation: z.enum(['keep', 'delete']).optional(),
    on_collect_failure: z.enum(['keep', 'delete']).optional(),
  })
  .meta({ description: 'What becomes of sandbox and conversation after collection.' });

const rows = z
  .discriminatedUnion('from', [
    z.strictObject({ from: z.literal('gateway') }),
    z.strictObject({ from: z.literal('proxy') }),
    z.strictObject({ from: z.literal('file'), path: rules.text(rules.LOCAL_PATH) }),
  ])
  .meta({ description: 'Where spend rows come from.' })
  .register(
    SHORTHANDS,
    wordOrMap({
      discriminator: 'from',
      words: ['gateway', 'proxy'],
      keyed: {
        key: 'file',
        field: 'path',
        schema: { type: 'string', pattern: rules.LOCAL_PATH.pattern.source },
      },
    }),
  );

const reconcile = z
  .strictObject({
    rows,
    settle: duration('How long late rows are awaited.').optional(),
    window: z
      .strictObject({
        before: duration('Before the start.').optional(),
        after: duration('After the end.').optional(),
      })
      .optional(),
    ambiguous: z.enum(['keep', 'split_by_tokens']).optional(),
    expect: z.strictObject({ unmatched_usd: amount('Tolerated unmatched spend in USD.') }).optional(),
  })
  .meta({ description: 'Joins spend rows with conversations (D27).' });

export const jobSchema = z
  .strictObject({
    kind: z.literal('job'),
    version: z.literal(1),
    name: rules.text(rules.JOB_NAME, 'Name of the job.'),
    description: z.string().max(2_000).optional(),
    labels: z
      .record(rules.text(rules.LABEL_NAME), labelValue)
      .meta({ description: 'Words for people and filters.' })
      .optional(),
    secrets: z
      .record(rules.text(rules.SECRET_NAME), secretReference)
      .meta({ description: 'Secrets by reference (D20).' })
      .optional(),
    defaults: defaultsSchema.optional(),
    conversations: z.array(conversationSchema).min(1).max(CONVERSATIONS_MAX),
    placement: placementSchema.optional(),
    admission: admissionSchema.optional(),
    budget: budgetSchema.optional(),
    retry: retrySchema.optional(),
    breaker: breaker.optional(),
    wait: waitSchema.optional(),
    collect: z
      .array(collectStep)
      .max(LIST_MAX)
      .meta({ description: 'What is kept, before anything is cleaned up.' })
      .optional(),
    cleanup: cleanupSchema.optional(),
    tolerate: z
      .strictObject({ failed: z.number().int().min(0).max(CONVERSATIONS_MAX) })
      .meta({ description: 'Failures that still count as success.' })
      .optional(),
    reconcile: reconcile.optional(),
    report: z
      .array(
        z.strictObject({ to: rules.text(rules.REPORT_FILE, 'File name; the ending decides the format.') }),
      )
      .max(LIST_MAX)
      .optional(),
  })
  .meta({ title: 'Parley job', description: 'A batch of coding-agent conversations.' });

export type JobDocument = z.infer<typeof jobSchema>;
