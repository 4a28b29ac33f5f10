/**
 * One play as text for people: a bar per conversation, then the figures.
 * Owns the wording; what is counted comes from the simulator.
 */
import { counted } from '../../core/text/counted.ts';
import { makespanBoundMs } from '../../core/makespan-bound.ts';
import { gantt, LEGEND } from '../../simulator/gantt.ts';
import type { PlanAnswer, SimulatedConversation } from '../../simulator/simulate-plan.ts';
import {
  conversationIntervals,
  conversationTimes,
  outcomesText,
  queuedTimes,
} from '../../simulator/views/play-figures.ts';
import { spreadOf } from '../../simulator/views/spread.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import { printable } from '../../host/terminal-text.ts';
import type { TextStream } from '../../host/shell.ts';
import { boundedLines } from '../print/bounded-lines.ts';

/** Columns where nothing says how wide the screen is. */
const WIDTH_DEFAULT = 100;
/** A longer list is for --json. */
const CONVERSATIONS_SHOWN_MAX = 50;

export interface AnswerTextOptions {
  readonly name: string;
  /** Epoch milliseconds at which the play began. */
  readonly startAt: number;
  /** Characters of a line at most. */
  readonly width: number;
  /** Capacity slots there are. */
  readonly slotsMax: number;
}

export function answerText(
  answer: PlanAnswer,
  { name, startAt, width, slotsMax }: AnswerTextOptions,
): string[] {
  const { conversations, phase, reason, makespanMs, endedAt } = answer;
  const shown = conversations.slice(0, CONVERSATIONS_SHOWN_MAX);
  const until = makespanMs === null ? endedAt : startAt + makespanMs;
  const more = conversations.length - shown.length;
  const held = reason === null ? phase : `${phase}, ${reason}`;
  const first = duration(answer.sandboxesPeakAt - startAt);
  return [
    `${name}: ${counted(conversations.length, 'conversation')}, simulated; ${held}`,
    '',
    ...gantt({ conversations: shown, from: startAt, until, width }),
    ...(more > 0 ? [`and ${more} more; see --json`] : []),
    LEGEND,
    '',
    `makespan: ${makespanText(answer)}`,
    `conversation times: ${timesText(conversations)}`,
    `queued: ${queuedText(answer)}`,
    `ended: ${outcomesText(conversations)}`,
    `cost: ${usd(answer.costNanoUsd)}`,
    `sandboxes at once: ${answer.sandboxesPeak} at most, of ${slotsMax} allowed, first after ${first}`,
    ...metLimits(conversations),
    `steps: ${answer.steps}, hash ${answer.hash}`,
  ].map(printable);
}

/** Characters of a line at most. */
export function widthOf({ columns }: TextStream): number {
  return columns ?? WIDTH_DEFAULT;
}

function timesText(conversations: readonly SimulatedConversation[]): string {
  const spread = spreadOf(conversationTimes(conversations));
  if (spread === null) return 'none has ended';
  return `p50 ${duration(spread.p50)}, p95 ${duration(spread.p95)}, max ${duration(spread.max)}`;
}

function makespanText({ makespanMs, conversations }: PlanAnswer): string {
  if (makespanMs === null) return 'not all have ended';
  const bound = makespanBoundMs(conversationIntervals(conversations));
  return `${duration(makespanMs)}, list scheduling at least ${duration(bound)}`;
}

function queuedText({ conversations, endedAt }: PlanAnswer): string {
  const times = queuedTimes(conversations, endedAt);
  const spread = spreadOf(times);
  if (spread === null) return 'nobody';
  const total = times.reduce((sum, ms) => sum + ms, 0);
  return `p50 ${duration(spread.p50)}, p95 ${duration(spread.p95)}, max ${duration(spread.max)}, ${duration(total)} in all`;
}

function metLimits(conversations: readonly SimulatedConversation[]): string[] {
  const meeting = conversations.filter(({ met }) => met.length > 0);
  if (meeting.length === 0) return ['limits met: none'];
  const rows = meeting.map(({ key, met }) => `  ${key}: ${met.join(', ')}`);
  return [`limits met by ${meeting.length}:`, ...boundedLines(rows, CONVERSATIONS_SHOWN_MAX)];
}
