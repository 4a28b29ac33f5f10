/**
 * A plan under a policy on the virtual clock: when, on how many sandboxes, at what cost, and who meets a limit.
 * Owns the question and the shape of its answer; the rules are those of core/, the world is a model.
 */
import type { RunPhase } from '../core/machine/projection.ts';
import type { RunItem, RunState } from '../core/run/state.ts';
import type { Outcome } from '../core/status.ts';
import { DAY_MS, MINUTE_MS } from '../core/time.ts';
import type { Violation } from './checking.ts';
import { PlanPlay, type PlanPlayOptions } from './plan-play.ts';
import type { LimitMet, PlanTimeline, Stretch } from './plan-timeline.ts';
import { activityCurve, type Curves } from './views/curves.ts';

export interface PlanQuestion extends PlanPlayOptions {
  /** Virtual time at most, in milliseconds; what is not over by then is shown as it stands. */
  readonly untilMs: number;
}

/** One conversation of an answer. */
export interface SimulatedConversation {
  readonly key: string;
  readonly attempts: number;
  /** Null: it has not ended. */
  readonly outcome: Outcome | null;
  readonly detail: string | null;
  readonly costNanoUsd: number;
  readonly stretches: readonly Stretch[];
  readonly met: readonly LimitMet[];
}

/** What became of a plan. */
export interface PlanAnswer {
  readonly conversations: readonly SimulatedConversation[];
  readonly phase: RunPhase;
  /** Why the run is held, when it is. */
  readonly reason: string | null;
  /** From the beginning to the end of the last conversation; null while one has not ended. */
  readonly makespanMs: number | null;
  /** Integer nano-USD of everything collected. */
  readonly costNanoUsd: number;
  /** Most capacity slots held at once, and when first. */
  readonly sandboxesPeak: number;
  readonly sandboxesPeakAt: number;
  /** Epoch milliseconds at which the clock stopped. */
  readonly endedAt: number;
  readonly steps: number;
  /** Over the whole trace. */
  readonly hash: string;
  /** Empty unless `checks`. */
  readonly violations: readonly Violation[];
  /** Null unless `curves`. */
  readonly curves: Curves | null;
}

/** Plays the plan until nothing is left to happen, or the time is up. Never reads a real clock. */
export function simulatePlan(question: PlanQuestion): PlanAnswer {
  const play = new PlanPlay(question);
  play.advanceTo(question.startAt + question.untilMs);
  play.end();
  return answerOf(play, question.startAt);
}

/** More steps than this between two questions are too many, and a tenth of them too few. */
const SLICE_STEPS_MAX = 2_000;

/** An answer, and how far it was played where there was no time for all of it. */
export interface BoundedAnswer {
  readonly answer: PlanAnswer;
  /**
   * Virtual time in milliseconds up to which it was played, whole minutes, when that is less than was asked for; with it
   * as `untilMs` the answer is the same.
   */
  readonly cutAtMs: number | null;
}

/** As `simulatePlan`, and ends between two stretches of virtual time once `mayGoOn` says so. */
export function simulateBounded(question: PlanQuestion, mayGoOn: () => boolean): BoundedAnswer {
  const play = new PlanPlay(question);
  let [playedMs, sliceMs] = [0, MINUTE_MS];
  do {
    playedMs = Math.min(question.untilMs, playedMs + sliceMs);
    const before = play.trace.lines;
    play.advanceTo(question.startAt + playedMs);
    const steps = play.trace.lines - before;
    if (steps > SLICE_STEPS_MAX) sliceMs = MINUTE_MS;
    else if (steps < SLICE_STEPS_MAX / 10) sliceMs = Math.min(DAY_MS, 2 * sliceMs);
  } while (playedMs < question.untilMs && mayGoOn());
  play.end();
  const cutAtMs = playedMs < question.untilMs ? playedMs : null;
  return { answer: answerOf(play, question.startAt), cutAtMs };
}

/** The answer as it stands at the present instant of a play. */
export function answerOf(
  { run, timeline, trace, peak, simulation, violations, curves }: PlanPlay,
  startAt: number,
): PlanAnswer {
  if (run === null) throw new Error('Cannot answer: the run has not begun');
  const answer = summary(run, timeline, startAt);
  const sampled = curves?.read(simulation.now()) ?? null;
  return {
    ...answer,
    curves: sampled === null ? null : { ...sampled, activities: activityCurve(answer.conversations) },
    sandboxesPeak: peak.count,
    sandboxesPeakAt: peak.at,
    endedAt: simulation.now(),
    steps: trace.lines,
    hash: trace.hash,
    violations,
  };
}

function summary(run: RunState, timeline: PlanTimeline, startAt: number) {
  const ends = run.items.map(({ endedAt }) => endedAt);
  return {
    conversations: run.items.map((item, index) => conversation(item, timeline.items[index])),
    phase: run.phase,
    reason: run.reason,
    makespanMs: ends.includes(null) ? null : Math.max(startAt, ...ends.map((at) => at ?? 0)) - startAt,
    costNanoUsd: run.spentNanoUsd,
  };
}

function conversation(
  item: RunItem,
  timeline: PlanTimeline['items'][number] | undefined,
): SimulatedConversation {
  return {
    key: item.key,
    attempts: item.attempt,
    outcome: item.phase === 'ended' ? (item.ending?.outcome ?? null) : null,
    detail: item.ending?.detail ?? null,
    costNanoUsd: item.costNanoUsd,
    stretches: timeline?.stretches ?? [],
    met: [...(timeline?.met ?? [])].sort(),
  };
}
