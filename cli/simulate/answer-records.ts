/**
 * One play as records: its conversations, its curves, the whole.
 * Owns the names of the fields; instants are milliseconds since the beginning.
 */
import { makespanBoundMs } from '../../core/makespan-bound.ts';
import type { PlanAnswer } from '../../simulator/simulate-plan.ts';
import type { Curves } from '../../simulator/views/curves.ts';
import { conversationIntervals, conversationTimes, queuedTimes } from '../../simulator/views/play-figures.ts';
import { spreadOf } from '../../simulator/views/spread.ts';
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
  const queued = queuedTimes(answer.conversations, answer.endedAt);
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
      makespan_ms: answer.makespanMs,
      makespan_bound_ms:
        answer.makespanMs === null ? null : makespanBoundMs(conversationIntervals(answer.conversations)),
      queued_ms: spreadOf(queued),
      queued_total_ms: queued.reduce((sum, ms) => sum + ms, 0),
      conversation_ms: spreadOf(conversationTimes(answer.conversations)),
      cost_nano_usd: answer.costNanoUsd,
      sandboxes_peak: answer.sandboxesPeak,
      sandboxes_peak_at_ms: since(answer.sandboxesPeakAt),
      sandboxes_max: slotsMax,
      steps: answer.steps,
      hash: answer.hash,
    },
  ];
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
