/**
 * I17: an answer that is not awaited changes nothing (D14).
 * Owns the one check on every machine; a driver may give an answer late, twice, or after its order was cancelled.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { MachineName } from '../../core/ids.ts';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function lateAnswersChangeNothing({ step }: Moment): string | null {
  const { event, before, address } = step;
  if (before === null || !('commandId' in event) || event.commandId === null) return null;
  if (awaitedBy(address.machine, before).includes(event.commandId)) return null;
  return `${event.type} answers ${event.commandId}, which is not awaited, and changed it`;
}

/** Ids of the commands that a machine still waits for. */
export function awaitedBy(machine: MachineName, state: unknown): readonly (string | null)[] {
  switch (machine) {
    case 'sandbox': {
      const { awaiting, watch } = state as SandboxState;
      return [awaiting, watch];
    }
    case 'conversation': {
      const { awaiting, watch } = state as ConversationState;
      return [awaiting, watch];
    }
    case 'run': {
      const { awaiting, items, sandboxes } = state as RunState;
      return [awaiting, ...items.map((item) => item.awaiting), ...sandboxes.map((used) => used.awaiting)];
    }
  }
}
