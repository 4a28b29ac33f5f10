/**
 * Items of a run as shares of its time.
 * Owns the arithmetic; pure.
 */
import { parsedInstant } from '../text/time.ts';
import type { RunItem, RunRecord } from './run-phase.ts';

export interface TimeFrame {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Span {
  readonly key: string;
  /** Its outcome, or its phase while it has none. */
  readonly word: string;
  /** 0 to 1; null for an item that waits. */
  readonly from: number | null;
  readonly until: number;
  readonly isOpen: boolean;
}

/** A frame is never empty: a run of no time has a second. */
const FRAME_MS_MIN = 1_000;

export function spansOf(
  run: Pick<RunRecord, 'created_at' | 'ended_at'>,
  items: readonly Pick<RunItem, 'key' | 'phase' | 'outcome' | 'admitted_at' | 'ended_at'>[],
  nowMs: number,
): { readonly frame: TimeFrame; readonly spans: readonly Span[] } {
  const fromMs = parsedInstant(run.created_at);
  const endMs = run.ended_at === null ? nowMs : parsedInstant(run.ended_at);
  const untilMs = Math.max(endMs, fromMs + FRAME_MS_MIN);
  const share = (at: string): number => clamp((parsedInstant(at) - fromMs) / (untilMs - fromMs));
  const spans = items.map(({ key, phase, outcome, admitted_at: admitted, ended_at: ended }) => ({
    key,
    word: outcome ?? phase,
    from: admitted === null ? null : share(admitted),
    until: ended === null ? 1 : share(ended),
    isOpen: admitted !== null && ended === null,
  }));
  return { frame: { fromMs, untilMs }, spans };
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
