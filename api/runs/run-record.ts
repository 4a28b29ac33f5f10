/**
 * Runs and their items as clients see them.
 * Owns the shapes; amounts are integers of nano-USD, as everywhere below the reports.
 */
import { z } from 'zod';
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import type { ItemPhase, RunItemRow, RunMode, RunRow } from '../../core/machine/projection.ts';
import type { Score } from '../../core/run/items/item-evidence.ts';
import type { ItemFacts } from '../../core/run/items/item-query.ts';
import { RUN_PHASES } from '../../core/run/state.ts';
import type { Trouble } from '../../core/trouble.ts';
import { instantOut, isoInstant } from '../application/wire.ts';
import { executionStatus, sandboxStatus } from '../application/words.ts';

const MODES = ['normal', 'draining', 'paused', 'cancelling'] as const satisfies readonly RunMode[];
export const ITEM_PHASES = [
  'waiting',
  'starting',
  'working',
  'verifying',
  'collecting',
  'ended',
] as const satisfies readonly ItemPhase[];

export const nanoUsd = z.int().meta({ description: 'Nano-USD: a US dollar is 1,000,000,000.' });

const nanoUsdSum = z.union([z.int(), z.string().regex(/^-?\d{16,}$/)]).meta({
  id: 'NanoUsdSum',
  description: 'Nano-USD; the digits as a text where no number of a double holds them exactly.',
});

const reconciliationSchema = z
  .object({
    rows: z.int(),
    total_nano_usd: nanoUsdSum,
    assigned_nano_usd: nanoUsdSum,
    ambiguous_nano_usd: nanoUsdSum,
    unassigned_nano_usd: nanoUsdSum,
    within_tolerance: z
      .boolean()
      .nullable()
      .meta({ description: 'Null when no bound is set on what may stay unmatched.' }),
  })
  .meta({ id: 'RunReconciliation' });

const troubleSchema = z
  .object({
    what: z.string().meta({ description: 'The command that is tried again, or `model`.' }),
    cause: z.string(),
    since: instantOut,
    tries: z.int(),
    next_at: instantOut,
  })
  .meta({ id: 'Trouble' })
  .nullable()
  .meta({ description: 'What is tried again at this moment; null when all goes well.' });

const budgetSchema = z
  .object({
    limit_nano_usd: nanoUsd,
    held_nano_usd: nanoUsd.meta({ description: 'For items in flight, until their attempts end.' }),
    mode: z.enum(['observe', 'audit', 'enforce']),
  })
  .meta({ id: 'RunBudget' });

/** A run, as the API has it. */
export const runSchema = z
  .object({
    id: z.string(),
    user_id: z.string().meta({ description: 'Whose it is.' }),
    name: z.string(),
    plan_hash: z.string(),
    phase: z.enum(RUN_PHASES).meta({ id: 'RunPhase' }),
    mode: z.enum(MODES).meta({ id: 'RunMode' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it stands still, or what the next item waits for.' }),
    total: z.int(),
    waiting: z.int(),
    in_flight: z.int(),
    ended: z.record(z.string(), z.int()).meta({ description: 'Items by outcome.' }),
    forgiven: z.int().meta({
      description:
        'Items that ended otherwise than well and count for nothing: others of their copies succeeded.',
    }),
    spent_nano_usd: nanoUsd,
    budget: budgetSchema.nullable(),
    created_at: instantOut,
    ended_at: instantOut.nullable(),
    reconciliation: reconciliationSchema.nullable(),
    trouble: troubleSchema,
  })
  .meta({ id: 'Run' });
export type RunRecord = z.output<typeof runSchema>;

const scoreSchema = z
  .object({
    name: z.string(),
    value: z.number().nullable().meta({ description: 'Null when its command said no number.' }),
    at_least: z.number().nullable(),
    at_most: z.number().nullable(),
    problem: z.string().nullable().meta({ description: 'Why it is not good enough; null when it is.' }),
  })
  .meta({ id: 'Score' });

/** One item of a run on the wire; amounts in USD, instants in ISO 8601. */
export const runItemSchema = z
  .object({
    key: z.string(),
    phase: z.enum(ITEM_PHASES).meta({ id: 'RunItemPhase' }),
    attempt: z.int(),
    conversation_id: z.string().nullable(),
    sandbox_id: z.string().nullable(),
    sandbox_status: sandboxStatus.nullable(),
    execution_status: executionStatus.nullable(),
    outcome: z.string().nullable(),
    failure_class: z.string().nullable(),
    detail: z.string().nullable(),
    cost_nano_usd: nanoUsd.nullable(),
    admitted_at: instantOut.nullable(),
    ended_at: instantOut.nullable(),
    model: z.string().nullable().meta({ description: 'Null when the plan has the item no more.' }),
    repository: z.string().nullable(),
    tags: z.record(z.string(), z.string()),
    scores: z
      .array(scoreSchema)
      .meta({ description: 'Numbers about its work, in the order of the job; empty for none.' }),
    trouble: troubleSchema,
  })
  .meta({ id: 'RunItem' });
export type RunItemRecord = z.output<typeof runItemSchema>;

export function runRecord(row: RunRow): RunRecord {
  const { reconciliation } = row;
  return {
    id: row.runId,
    user_id: row.userId ?? LOCAL_USER,
    name: row.name,
    plan_hash: row.planHash,
    phase: row.phase,
    mode: row.mode,
    reason: row.reason,
    total: row.total,
    waiting: row.waiting,
    in_flight: row.inFlight,
    ended: { ...row.ended },
    forgiven: row.forgiven ?? 0,
    spent_nano_usd: row.spentNanoUsd,
    budget: budgetRecord(row),
    created_at: isoInstant(row.createdAt),
    ended_at: instantOrNull(row.endedAt),
    reconciliation:
      reconciliation === null
        ? null
        : {
            rows: reconciliation.rows,
            total_nano_usd: reconciliation.totalNanoUsd,
            assigned_nano_usd: reconciliation.assignedNanoUsd,
            ambiguous_nano_usd: reconciliation.ambiguousNanoUsd,
            unassigned_nano_usd: reconciliation.unassignedNanoUsd,
            within_tolerance: reconciliation.withinTolerance,
          },
    trouble: troubleRecord(row.trouble),
  };
}

function budgetRecord({ budget, inFlight }: RunRow): RunRecord['budget'] {
  if (budget === undefined) return null;
  const { nanoUsd: limit, reserveNanoUsd, mode } = budget;
  return { limit_nano_usd: limit, held_nano_usd: inFlight * reserveNanoUsd, mode };
}

export interface BesideItem {
  readonly scores: readonly Score[];
  /** Null when the plan has the item no more. */
  readonly facts: ItemFacts | null;
}

export function runItemRecord(row: RunItemRow, { scores, facts }: BesideItem): RunItemRecord {
  return {
    key: row.key,
    phase: row.phase,
    attempt: row.attempt,
    conversation_id: row.conversationId,
    sandbox_id: row.sandboxId,
    sandbox_status: row.sandboxStatus,
    execution_status: row.executionStatus,
    outcome: row.outcome,
    failure_class: row.failureClass,
    detail: row.detail ?? row.waitsFor ?? null,
    cost_nano_usd: row.costNanoUsd,
    admitted_at: instantOrNull(row.admittedAt),
    ended_at: instantOrNull(row.endedAt),
    model: facts?.model ?? null,
    repository: facts?.repository?.name ?? null,
    tags: { ...facts?.tags },
    scores: scores.map(({ name, value, at_least: least = null, at_most: most = null, problem }) => ({
      ...{ name, value, at_least: least, at_most: most, problem },
    })),
    trouble: troubleRecord(row.trouble),
  };
}

function troubleRecord(trouble: Trouble | null | undefined): z.output<typeof troubleSchema> {
  if (trouble == null) return null;
  const { what, cause, since, tries, nextAt } = trouble;
  return { what, cause, since: isoInstant(since), tries, next_at: isoInstant(nextAt) };
}

function instantOrNull(at: number | null): string | null {
  return at === null ? null : isoInstant(at);
}
