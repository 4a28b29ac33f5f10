/**
 * A watch in one process: polls and waits in turn, until a poll finds an answer or the command is cancelled.
 * Owns the loop; each watch owns its poll.
 */
import type { MachineEvent } from '../core/machine/command.ts';
import type { Clock } from '../ports/clock.ts';
import type { Json } from '../ports/engine-store.ts';
import type { PollResult } from './activity.ts';
import { sleepUntil } from './sleep.ts';

export async function watch(
  clock: Clock,
  signal: AbortSignal,
  poll: (memory: Json) => Promise<PollResult>,
): Promise<MachineEvent | null> {
  let memory: Json = null;
  while (!signal.aborted) {
    const found = await poll(memory);
    if (found.kind === 'over') return found.event;
    memory = found.memory;
    await sleepUntil(clock, found.at, signal);
  }
  return null;
}
