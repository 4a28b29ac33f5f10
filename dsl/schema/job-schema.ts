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
import { amount, duration, flag, oneOf, whole } from './amounts.ts';
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
import { scheduleSchema } from './schedule-schema.ts';
import { asText, scalarAs, SHORTHANDS, wordOrMap } from './shorthand.ts';
import * as rules from './text-rule.ts';

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
  code: 'JOB208',
  pattern: new RegExp(`^[^\\p{Cc}]{0,${HOST_LABEL_VALUE_MAX}}$`, 'u'),
  what: 'a value of a label of a host',
  remedy: `write one line of at most ${HOST_LABEL_VALUE_MAX} characters`,
});
/** As `host.name` of a deployment. */
export const HOST_NAME = rules.rule({
  code: 'JOB208',
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
        unbilled: z
          .int()
          .min(0)
          .max(1_000_000_000)
          .meta({ description: 'Calls that succeeded and that no row may bill.' })
          .optional(),
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
    report: z
      .array(
        z.strictObject({ to: rules.text(rules.REPORT_FILE, 'File name; the ending decides the format.') }),
      )
      .max(LIST_MAX)
      .meta({ description: 'Files that are written at the end, below the folder of the run.' })
      .optional(),
    finally: finallySchema.optional(),
  })
  .meta({ title: 'Parley job', description: 'A batch of coding-agent conversations.' });

export type JobDocument = z.infer<typeof jobSchema>;
