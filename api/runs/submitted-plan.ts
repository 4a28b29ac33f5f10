/**
 * A plan as it comes over the wire: compiled elsewhere, by a client that does not own this machine.
 * Owns the shape and its bounds; that it is as it was compiled is seen by its hash, and what it may do here is said in run-command-routes.ts.
 */
import { z } from 'zod';
import { WEBHOOK_ADDRESS } from '../../core/webhook-address.ts';
import { submittedIssues } from './submitted-issues.ts';
import { hostLabelsIn, hostNameIn } from '../application/host-pin.ts';
import { confirmationPolicy, executionStatus, failureClass, groupingStrategy } from '../application/words.ts';

/** As many as one request can bring; a larger batch is run where its plan is. */
export const SUBMITTED_ITEMS_MAX = 10_000;
const TEXT_MAX = 1_000_000;
const COUNT_MAX = 100_000;
const LIST_MAX = 200;
/** As a job may name them. */
const SETUP_CACHE_FILES_MAX = 20;

const text = z.string().max(TEXT_MAX);
const word = z.string().min(1).max(256);
const count = z.int().min(0).max(COUNT_MAX);
const millis = z.int().min(0);
const nanoUsd = z.int().min(0);
const words = z.record(word, z.string().max(TEXT_MAX));
const classes = z.array(failureClass).max(LIST_MAX);
const key = z
  .string()
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/)
  .max(200);
/** Not the name of anything above the folder of a run. */
const fileName = z
  .string()
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/)
  .max(200);

const reference = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('env'), name: word }),
  z.strictObject({ from: z.literal('file'), path: z.string().max(4_096) }),
  z.strictObject({ from: z.literal('store'), name: word }),
]);

const repository = z.strictObject({
  name: word,
  branch: word.nullable(),
  ref: word.optional(),
  submodules: z.literal(true).optional(),
  lfs: z.literal(true).optional(),
  host: word.nullable(),
  tokenSecret: word.nullable(),
  author: z.strictObject({ name: word, email: word }).optional(),
});

const retryRules = z
  .array(
    z.strictObject({
      on: classes,
      attempts: count,
      initialMs: millis,
      factor: z.number().min(0),
      maxMs: millis,
    }),
  )
  .max(LIST_MAX);

const waitRules = z.strictObject({
  until: z.array(executionStatus).max(LIST_MAX),
  deadlineMs: millis.nullable(),
  noProgressMs: millis.nullable(),
  onSessionLimit: z.enum(['resume', 'stop']),
});

const collectSteps = z
  .array(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.enum(['trajectory', 'diff', 'usage']) }),
      z.strictObject({ kind: z.literal('files'), globs: z.array(z.string().max(4_096)).max(LIST_MAX) }),
    ]),
  )
  .max(LIST_MAX);

const item = z
  .strictObject({
    key,
    entry: word,
    issue: z
      .strictObject({
        host: word,
        repository: word,
        number: z.int().min(1),
        title: text,
        url: z.string().max(4_096),
      })
      .optional(),
    matrix: words,
    // As JOB304 says: a model would be paid to answer nothing.
    prompt: text.regex(/\S/, 'Input should have text'),
    repository: repository.nullable(),
    model: word,
    tags: words,
    observability: z.looseObject({}).optional(),
    secrets: z.record(word, word),
    verify: z.strictObject({ command: text, timeoutMs: millis }).nullable(),
    scores: z
      .array(
        z.strictObject({
          name: word,
          command: text,
          timeoutMs: millis,
          atLeast: z.number().optional(),
          atMost: z.number().optional(),
        }),
      )
      .max(LIST_MAX)
      .optional(),
    setup: z
      .strictObject({
        command: text,
        timeoutMs: millis,
        cache: z.array(z.string().max(4_096)).max(SETUP_CACHE_FILES_MAX).optional(),
      })
      .optional(),
    limits: z.strictObject({
      workingMs: millis.nullable(),
      turns: count.nullable(),
      nanoUsd: nanoUsd.nullable(),
    }),
    priority: z.int(),
    affinity: word.optional(),
    repeat: count.optional(),
    confirmation: confirmationPolicy.optional(),
    plugins: z
      .array(z.strictObject({ source: word, ref: word.nullable(), path: z.string().max(4_096).nullable() }))
      .max(LIST_MAX)
      .optional(),
    agent: z
      .strictObject({
        name: word,
        command: z.array(z.string().max(10_000)).max(LIST_MAX),
        environment: words,
        mode: word.nullable(),
        version: word.nullable(),
      })
      .optional(),
    retry: retryRules.optional(),
    wait: waitRules.optional(),
    collect: collectSteps.optional(),
    needs: z
      .array(
        z.strictObject({ entry: word, outcome: z.enum(['succeeded', 'failed', 'ended']), each: z.boolean() }),
      )
      .max(LIST_MAX)
      .optional(),
    index: count,
    specHash: word,
    whole: z.strictObject({ key: word, rule: z.enum(['any', 'majority']) }).optional(),
  })
  .meta({ id: 'PlanItem' });

const admission = z.strictObject({
  concurrency: z.int().min(1).max(COUNT_MAX),
  per: z
    .array(
      z.strictObject({
        field: z.enum(['repo', 'model', 'entry', 'tags', 'matrix']),
        name: word.nullable(),
        value: z.string().max(256).nullable(),
        max: z.int().min(1).max(COUNT_MAX),
      }),
    )
    .max(LIST_MAX)
    .optional(),
  startEveryMs: millis.optional(),
  rampMs: millis.optional(),
  adaptive: z.strictObject({ on: classes, min: z.int().min(1) }).optional(),
  order: z
    .discriminatedUnion('by', [
      z.strictObject({ by: z.literal('position') }),
      z.strictObject({ by: z.literal('shuffle'), seed: z.int() }),
    ])
    .optional(),
  canary: count.optional(),
});

const pool = z.strictObject({
  size: z.int().min(1).max(COUNT_MAX),
  maxPerSandbox: z.int().min(1).max(COUNT_MAX),
  recycleAfter: z.int().min(1).nullable(),
  recycleAgeMs: z.int().min(1).nullable(),
  onFull: z.enum(['wait', 'spill', 'fail']),
  warm: z.boolean(),
});

const rules = {
  placement: z.strictObject({
    strategy: groupingStrategy.nullable(),
    sandboxId: word.nullable(),
    pool: pool.optional(),
    host: hostNameIn.optional(),
    labels: hostLabelsIn.optional(),
  }),
  admission,
  budget: z
    .strictObject({
      nanoUsd,
      reserveNanoUsd: nanoUsd,
      mode: z.enum(['observe', 'audit', 'enforce']),
      onExceeded: z.enum(['drain', 'cancel']).optional(),
      softNanoUsd: nanoUsd.optional(),
    })
    .nullable(),
  retry: retryRules,
  breaker: z
    .strictObject({
      on: classes,
      windowMs: millis,
      count: z.int().min(1),
      recover: z.strictObject({ afterMs: millis, probes: z.int().min(1) }).optional(),
    })
    .nullable(),
  wait: waitRules,
} as const;

const endings = {
  collect: collectSteps,
  deliver: z
    .strictObject({
      branch: word,
      message: text,
      when: z.enum(['succeeded', 'always']),
      pullRequest: z
        .strictObject({
          title: text,
          body: text,
          isDraft: z.boolean(),
          labels: z.array(word).max(LIST_MAX),
          reviewers: z.array(word).max(LIST_MAX),
          base: word.nullable(),
          comment: text.nullable(),
          tokenSecret: word.nullable(),
        })
        .optional(),
    })
    .optional(),
  cleanup: z.strictObject({
    sandbox: z.enum(['delete', 'pause', 'keep']),
    conversation: z.enum(['keep', 'delete']),
    onCollectFailure: z.enum(['keep', 'delete']),
  }),
  tolerate: z.strictObject({ failed: count }),
  reconcile: z
    .strictObject({
      // A remote client must not name a file of this machine.
      rows: z.strictObject({ from: z.enum(['gateway', 'proxy']) }),
      settleMs: millis,
      windowBeforeMs: millis,
      windowAfterMs: millis,
      ambiguous: z.enum(['keep', 'split_by_tokens']),
      unmatchedNanoUsdMax: nanoUsd.nullable(),
      unbilledMax: count.optional(),
    })
    .nullable(),
  report: z
    .array(z.strictObject({ format: z.enum(['markdown', 'html', 'jsonl', 'junit']), file: fileName }))
    .max(LIST_MAX),
  finally: z
    .array(
      z.strictObject({
        kind: z.literal('notify'),
        to: z.union([
          // Not the loopback of this machine: the author of the job meant that of another one.
          z.strictObject({ url: z.string().max(4_096).regex(WEBHOOK_ADDRESS).startsWith('https:') }),
          z.strictObject({ secret: word }),
        ]),
        keySecret: word.nullable(),
        text: z.string().max(TEXT_MAX),
        when: z.enum(['always', 'succeeded', 'failed']),
        timeoutMs: millis,
      }),
    )
    .max(LIST_MAX)
    .optional(),
} as const;

export const submittedPlanSchema = z
  .strictObject({
    format: z.literal(1),
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
    description: text.nullable(),
    labels: words,
    inputs: z.record(word, z.union([z.string(), z.number(), z.boolean()])).optional(),
    secrets: z.record(word, reference),
    items: z.array(item).min(1).max(SUBMITTED_ITEMS_MAX),
    issues: submittedIssues.optional(),
    ...rules,
    ...endings,
    schedule: z.looseObject({}).optional(),
    hash: word,
  })
  .meta({ id: 'Plan', description: 'A plan of format 1, as "parley plan --out" writes it.' });
