/**
 * Working time of an attempt: how long its agent was at work.
 * Owns what does not count: queueing and boot, a sandbox that is paused, an agent that waits for a person or a rate
 * limit, and time by which the clock was set or in which the machine was suspended (D36).
 */
import type { ExecutionStatus, SandboxStatus } from '../status.ts';
import { isInFlight, type RunItem, type RunState } from './state.ts';

interface Seen {
  readonly sandboxStatus: SandboxStatus | null;
  readonly executionStatus: ExecutionStatus | null;
}

/** Whether the clock of the working time runs. An agent that waits on its model's rate limit says `PAUSED` (D6). */
export function countsAsWork({ sandboxStatus, executionStatus }: Seen): boolean {
  if (sandboxStatus === 'PAUSED' || sandboxStatus === 'STARTING') return false;
  return executionStatus !== 'PAUSED' && executionStatus !== 'WAITING_FOR_CONFIRMATION';
}

/** Starts or stops the clock of an item that is at work. */
export function clocked(item: RunItem, seen: Seen, now: number): Pick<RunItem, 'workedMs' | 'workingSince'> {
  const workedMs = item.workedMs ?? 0;
  if (countsAsWork(seen)) return { workedMs, workingSince: item.workingSince ?? now };
  return {
    workedMs: workedMs + (item.workingSince === null ? 0 : now - item.workingSince),
    workingSince: null,
  };
}

/** When the limit of the working time is reached if nothing changes; null without a limit, or while the clock stands. */
export function workingLimitAt({ workingMs, workingSince, workedMs }: RunItem): number | null {
  if (workingMs === null || workingSince === null) return null;
  return workingSince + Math.max(0, workingMs - (workedMs ?? 0));
}

/** When an attempt must have ended by the deadline of its job; null without one, or before it was admitted. */
export function attemptEndsBy({ admittedAt, skippedMs }: RunItem, deadlineMs: number | null): number | null {
  return deadlineMs === null || admittedAt === null ? null : admittedAt + deadlineMs + (skippedMs ?? 0);
}

/** Every attempt in flight has as much time left as before; when it was admitted is what people read, and stays (D36). */
export function runClockSet<State extends RunState | null>(state: State, byMs: number): State {
  if (state === null) return state;
  const { items, cleanBy, closing } = state;
  return {
    ...state,
    items: items.some(isInFlight) ? items.map((item) => itemClockSet(item, byMs)) : items,
    cleanBy: cleanBy === null ? null : cleanBy + byMs,
    ...(closing === undefined ? {} : { closing: { ...closing, by: closing.by + byMs } }),
  };
}

function itemClockSet(item: RunItem, byMs: number): RunItem {
  if (!isInFlight(item)) return item;
  const { workingSince, stopBy, skippedMs } = item;
  return {
    ...item,
    workingSince: workingSince === null ? null : workingSince + byMs,
    stopBy: stopBy === null ? null : stopBy + byMs,
    skippedMs: (skippedMs ?? 0) + byMs,
  };
}
