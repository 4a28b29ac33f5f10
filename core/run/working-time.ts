/**
 * Working time of an attempt: how long its agent was at work.
 * Owns what does not count: queueing and boot, a sandbox that is paused, an agent that waits for a person or a rate limit.
 */
import type { ExecutionStatus, SandboxStatus } from '../status.ts';
import type { RunItem } from './state.ts';

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
