/**
 * The figures of one play, and of many plays of one question.
 * Owns what is counted in a sweep; must not print.
 */
import { type WorkInterval, makespanBoundMs } from '../../core/makespan-bound.ts';
import type { LimitMet } from '../plan-timeline.ts';
import type { PlanAnswer, SimulatedConversation } from '../simulate-plan.ts';
import { spreadOf, type Spread } from './spread.ts';

/** Figures of which a sweep shows a spread; pauses count conversations that met one. */
export const FIGURE_NAMES = [
  'makespanMs',
  'costNanoUsd',
  'sandboxesPeak',
  'idlePauses',
  'sessionCaps',
  'capacityMet',
  'budgetMet',
] as const;
/** One of FIGURE_NAMES. */
export type FigureName = (typeof FIGURE_NAMES)[number];

interface PlayFigures extends Readonly<Record<FigureName, number>> {
  /** Infinity while a conversation has not ended. */
  readonly makespanMs: number;
  readonly succeeded: number;
  readonly conversations: number;
}

/** Many plays in a few figures. */
export interface PlaysSummary {
  readonly plays: number;
  readonly spreads: Readonly<Record<FigureName, Spread>>;
  /** Conversations that succeeded, of all in all plays; 0 to 1. */
  readonly successShare: number;
}

/** The figures of one answer. */
export function figuresOf(answer: PlanAnswer): PlayFigures {
  const { conversations, makespanMs, costNanoUsd, sandboxesPeak } = answer;
  const meeting = (limit: LimitMet): number => conversations.filter(({ met }) => met.includes(limit)).length;
  return {
    makespanMs: makespanMs ?? Infinity,
    costNanoUsd,
    sandboxesPeak,
    idlePauses: meeting('idle_pause'),
    sessionCaps: meeting('session_cap'),
    capacityMet: meeting('capacity'),
    budgetMet: meeting('budget'),
    succeeded: conversations.filter(({ outcome }) => outcome === 'succeeded').length,
    conversations: conversations.length,
  };
}

/** @throws Error when there is no play */
export function summarise(plays: readonly PlayFigures[]): PlaysSummary {
  const spreads = Object.fromEntries(
    FIGURE_NAMES.map((name) => [name, spreadOfPlays(plays, name)]),
  ) as Record<FigureName, Spread>;
  const total = plays.reduce((sum, { conversations }) => sum + conversations, 0);
  const succeeded = plays.reduce((sum, play) => sum + play.succeeded, 0);
  return { plays: plays.length, spreads, successShare: total === 0 ? 1 : succeeded / total };
}

function spreadOfPlays(plays: readonly PlayFigures[], name: FigureName): Spread {
  const spread = spreadOf(plays.map((play) => play[name]));
  if (spread === null) throw new Error('Cannot summarise: nothing was played');
  return spread;
}

/** Milliseconds from the first admission of each conversation to its end; those that have not ended are left out. */
export function conversationTimes(conversations: readonly SimulatedConversation[]): number[] {
  return conversationIntervals(conversations).map(({ from, to }) => to - from);
}

/** From the first admission of each conversation to its end; those that have not ended are left out. */
export function conversationIntervals(conversations: readonly SimulatedConversation[]): WorkInterval[] {
  return conversations.flatMap(({ outcome, stretches }) => {
    const begun = stretches.find(({ as }) => as !== 'queued');
    const last = stretches.at(-1);
    return outcome === null || begun === undefined || last === undefined
      ? []
      : [{ from: begun.from, to: last.from }];
  });
}

/** Milliseconds for which each conversation was queued, for its turn or for capacity; up to the end of the play. */
export function queuedTimes(conversations: readonly SimulatedConversation[], endedAt: number): number[] {
  return conversations.map(({ stretches }) =>
    stretches.reduce((sum, { from, as }, index) => {
      return as === 'queued' ? sum + (stretches[index + 1]?.from ?? endedAt) - from : sum;
    }, 0),
  );
}

/** `8 succeeded, 2 not ended`, in the order in which they are met; empty without conversations. */
export function outcomesText(
  conversations: readonly { readonly outcome: string | null }[],
  notEnded = 'not ended',
): string {
  const counts = new Map<string, number>();
  for (const { outcome } of conversations) {
    const word = outcome ?? notEnded;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
}

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
