/**
 * One play as records: its conversations, its curves, the whole.
 * Owns the names of the fields; instants are milliseconds since the beginning.
 */
import type { PlanAnswer } from '../../simulator/simulate-plan.ts';
import type { Curves } from '../../simulator/views/curves.ts';
import { playSummary } from '../../simulator/views/play-figures.ts';
import type { JsonRecord } from '../../host/records.ts';

export interface AnswerRecordsOptions {
  /** Epoch milliseconds at which the play began. */
  readonly startAt: number;
  readonly seed: number;
  /** Capacity slots there are. */
  readonly slotsMax: number;
}

export function answerRecords(
  answer: PlanAnswer,
  { startAt, seed, slotsMax }: AnswerRecordsOptions,
): JsonRecord[] {
  const since = (at: number): number => at - startAt;
  const conversations = answer.conversations.map((one) => ({
    type: 'simulated',
    key: one.key,
    attempts: one.attempts,
    outcome: one.outcome,
    detail: one.detail,
    cost_nano_usd: one.costNanoUsd,
    met: one.met,
    stretches: one.stretches.map(({ from, as }) => ({ from_ms: since(from), as })),
  }));
  return [
    ...conversations,
    ...(answer.curves === null ? [] : curveRecords(answer.curves, since)),
    {
      type: 'simulation',
      seed,
      phase: answer.phase,
      reason: answer.reason,
      ...sumsRecord(answer, startAt),
      sandboxes_max: slotsMax,
    },
  ];
}

/** What a play came to, the same wherever it is shown. */
export function sumsRecord(answer: PlanAnswer, startAt: number) {
  const sums = playSummary(answer, startAt);
  return {
    makespan_ms: sums.makespanMs,
    makespan_bound_ms: sums.makespanBoundMs,
    queued_ms: sums.queuedMs,
    queued_total_ms: sums.queuedTotalMs,
    conversation_ms: sums.conversationMs,
    cost_nano_usd: sums.costNanoUsd,
    sandboxes_peak: sums.sandboxesPeak,
    sandboxes_peak_at_ms: sums.sandboxesPeakAtMs,
    steps: sums.steps,
    hash: sums.hash,
  };
}

function curveRecords(
  { slots, slotsMax, costNanoUsd, activities }: Curves,
  since: (at: number) => number,
): JsonRecord[] {
  return [
    {
      type: 'curve',
      name: 'slots',
      max: slotsMax,
      points: slots.map(({ at, value }) => ({ at_ms: since(at), value })),
    },
    {
      type: 'curve',
      name: 'cost_nano_usd',
      points: costNanoUsd.map(({ at, value }) => ({ at_ms: since(at), value })),
    },
    {
      type: 'curve',
      name: 'activities',
      points: activities.map(({ at, ...counts }) => ({ at_ms: since(at), ...counts })),
    },
  ];
}
