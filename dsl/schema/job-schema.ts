/**
 * The whole job file in its long form, closed at every level.
 * Owns the top level; entries are in conversation-schema.ts, how a run goes in run-schema.ts.
 * No key here, or anywhere, sets an idle or deletion limit or the length of a session (D10).
 */
import { z } from 'zod';
import {
  HOST_LABELS_MAX,
  HOST_LABEL_VALUE_MAX,
  HOST_NAME_PATTERN,
} from '../../core/placement/choose-host.ts';
import { GROUPING_STRATEGIES, type GroupingStrategy } from '../../core/status.ts';
import { appendSchema } from './append-schema.ts';
import { amount, duration, flag, listOf, oneOf, oneOrMore, whole } from './amounts.ts';
import { collectSchema } from './collect-schema.ts';
import { conversationSchema, defaultsSchema } from './conversation-schema.ts';
import {
  admissionSchema,
  breakerSchema,
  budgetSchema,
  cleanupSchema,
  retrySchema,
  tolerateSchema,
  waitSchema,
} from './run-schema.ts';
import { deliverSchema } from './deliver-schema.ts';
import { finallySchema } from './finally-schema.ts';
import { inputsSchema } from './inputs-schema.ts';
import { asText, scalarAs, SHORTHANDS, wordOrMap } from './shorthand.ts';
import * as rules from './text-rule.ts';

/** More instants than these are better said by a step. */
const CRON_MAX = 20;
const CRON_LENGTH_MAX = 200;
const ZONE_LENGTH_MAX = 64;

const OVERLAP_WORDS = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow_all'] as const;

/** When a job runs by itself. */
const scheduleSchema = z
  .strictObject({
    cron: oneOrMore(
      z.string().max(CRON_LENGTH_MAX),
      CRON_MAX,
      'Cron expressions; it runs when one of them says so.',
    ),
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

/** More sandboxes than a plan may have conversations are of no use. */
const SIZE_MAX = 10_000;
const PLACES_MAX = 1_000;
const RECYCLE_MAX = 1_000_000;

const recycle = z
  .strictObject({
    after: whole(1, RECYCLE_MAX, 'Conversations ever placed in one sandbox.').optional(),
    max_age: duration('Age at which a sandbox takes no more.').optional(),
  })
  .meta({ description: 'When a sandbox takes no more conversations; another one takes its place.' });

/** `placement.pool`: sandboxes that a run keeps for itself. */
const poolSchema = z
  .strictObject({
    size: whole(1, SIZE_MAX, 'Sandboxes of the run at most.'),
    max_per_sandbox: whole(1, PLACES_MAX, 'Conversations at work in one sandbox at once.').optional(),
    affinity: rules
      .text(rules.AFFINITY, 'Template; who has the same value shares sandboxes while there is room.')
      .optional(),
    recycle: recycle.optional(),
    on_full: oneOf(
      ['wait', 'spill', 'fail'],
      'What becomes of a conversation that the pool has no place for.',
    ).optional(),
    warm: flag('The sandboxes boot when the run begins.').optional(),
  })
  .meta({ description: 'Sandboxes that the run keeps for itself.' });

/** As in `host.labels` of a deployment. */
const HOST_LABEL_VALUE = rules.rule({
  pattern: new RegExp(`^[^\\p{Cc}]{0,${HOST_LABEL_VALUE_MAX}}$`, 'u'),
  what: 'a value of a label of a host',
  remedy: `write one line of at most ${HOST_LABEL_VALUE_MAX} characters`,
});
/** As `host.name` of a deployment. */
export const HOST_NAME = rules.rule({
  pattern: HOST_NAME_PATTERN,
  what: 'a name of a host',
  remedy:
    'use 1 to 63 letters, digits and . _ -, starting with a letter or digit; "parley hosts list" has the names',
});

/** Above this, one run is better split: a plan is handed around as one document. */
const CONVERSATIONS_MAX = 10_000;
const LIST_MAX = 100;

/** D16, in lower case as YAML spells them. */
export const STRATEGY_WORDS = GROUPING_STRATEGIES.map(
  (word) => word.toLowerCase() as Lowercase<GroupingStrategy>,
);
const secretReference = z.discriminatedUnion('from', [
  z.strictObject({
    from: z.literal('env').meta({ description: 'Where the value is found.' }),
    name: rules.text(rules.SECRET_NAME, 'Environment variable of the engine.'),
  }),
  z.strictObject({
    from: z.literal('file').meta({ description: 'Where the value is found.' }),
    path: rules.text(rules.SECRET_PATH, 'File that holds the value.'),
  }),
  z.strictObject({
    from: z.literal('store').meta({ description: 'Where the value is found.' }),
    name: rules.text(rules.LABEL_NAME, 'Name in the secret store.'),
  }),
]);

const labelValue = z.string().max(256).register(SHORTHANDS, asText);

const hostLabelValue = rules.text(HOST_LABEL_VALUE).register(SHORTHANDS, asText);

/** Labels of a host, or labels that it must have. */
export const hostLabels = z
  .record(rules.text(rules.LABEL_NAME), hostLabelValue)
  .refine((labels) => Object.keys(labels).length <= HOST_LABELS_MAX, {
    params: { tooMany: HOST_LABELS_MAX },
  });

export const placementSchema = z
  .strictObject({
    strategy: oneOf(STRATEGY_WORDS, 'How a sandbox is chosen (D16).').optional(),
    sandbox: rules.text(rules.SANDBOX_ID, 'Id of one sandbox for every conversation.').optional(),
    pool: poolSchema.optional(),
    host: rules.text(HOST_NAME, 'The host on which new sandboxes live.').optional(),
    labels: hostLabels.meta({ description: 'Labels that the host of new sandboxes has.' }).optional(),
  })
  .meta({ description: "Where conversations run; without it the user's own setting decides (D16)." })
  .register(SHORTHANDS, scalarAs('strategy'));

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
        schema: {
          type: 'string',
          pattern: rules.LOCAL_PATH.pattern.source,
          description: 'An export of the gateway, relative to the folder of the run.',
        },
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
      .meta({ description: 'Time around a conversation in which a row may lie.' })
      .optional(),
    ambiguous: oneOf(['keep', 'split_by_tokens'], 'What becomes of rows with several candidates.').optional(),
    expect: z
      .strictObject({
        unmatched_usd: amount('Tolerated unmatched spend in USD.').optional(),
        unbilled: whole(0, 1_000_000_000, 'Calls that succeeded and that no row may bill.').optional(),
      })
      .meta({ description: 'What must hold of the result.' })
      .optional(),
  })
  .meta({ description: 'Joins spend rows with conversations (D27).' });

/** A job file in long form. */
export const jobSchema = z
  .strictObject({
    kind: z.literal('job').meta({ description: 'What the file is.' }),
    version: z.literal(1).meta({ description: 'Version of the language.' }),
    name: rules.text(rules.JOB_NAME, 'Name of the job.'),
    description: z.string().max(2_000).meta({ description: 'A text for people.' }).optional(),
    extends: rules
      .text(rules.LOCAL_PATH, 'A job file whose keys this one builds on, relative to this file.')
      .optional(),
    append: appendSchema.optional(),
    inputs: inputsSchema.optional(),
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
    breaker: breakerSchema.optional(),
    wait: waitSchema.optional(),
    collect: collectSchema.optional(),
    deliver: deliverSchema.optional(),
    cleanup: cleanupSchema.optional(),
    tolerate: tolerateSchema.optional(),
    schedule: scheduleSchema.optional(),
    reconcile: reconcile.optional(),
    report: listOf(
      z.strictObject({ to: rules.text(rules.REPORT_FILE, 'File name; the ending decides the format.') }),
      LIST_MAX,
      'Files that are written at the end, below the folder of the run.',
    ).optional(),
    finally: finallySchema.optional(),
  })
  .meta({ title: 'Parley job', description: 'A batch of coding-agent conversations.' });

export type JobDocument = z.infer<typeof jobSchema>;
