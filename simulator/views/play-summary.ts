/**
 * A play in a few figures, the same for records, pages and whoever else shows one.
 * Owns what is counted; instants are milliseconds since the beginning.
 */
import { makespanBoundMs } from '../../core/makespan-bound.ts';
import type { PlanAnswer } from '../simulate-plan.ts';
import { conversationIntervals, conversationTimes, queuedTimes } from './play-figures.ts';
import { spreadOf, type Spread } from './spread.ts';

interface PlaySummary {
  readonly makespanMs: number | null;
  readonly makespanBoundMs: number | null;
  readonly queuedMs: Spread | null;
  readonly queuedTotalMs: number;
  readonly conversationMs: Spread | null;
  readonly costNanoUsd: number;
  readonly sandboxesPeak: number;
  readonly sandboxesPeakAtMs: number;
  readonly steps: number;
  readonly hash: string;
}

/** `startAt`: epoch milliseconds of the beginning. */
export function playSummary(answer: PlanAnswer, startAt: number): PlaySummary {
  const { conversations, makespanMs, endedAt } = answer;
  const queued = queuedTimes(conversations, endedAt);
  return {
    makespanMs,
    makespanBoundMs: makespanMs === null ? null : makespanBoundMs(conversationIntervals(conversations)),
    queuedMs: spreadOf(queued),
    queuedTotalMs: queued.reduce((sum, ms) => sum + ms, 0),
    conversationMs: spreadOf(conversationTimes(conversations)),
    costNanoUsd: answer.costNanoUsd,
    sandboxesPeak: answer.sandboxesPeak,
    sandboxesPeakAtMs: answer.sandboxesPeakAt - startAt,
    steps: answer.steps,
    hash: answer.hash,
  };
}
