/**
 * I17: an answer that is not awaited changes nothing (D14).
 * Owns the one check on every machine; a driver may give an answer late, twice, or after its order was cancelled.
 * A run reads its clock with every event: a place that has become free, a retry or a try of its breaker that is due,
 * or a sandbox of its pool that has reached its age is not the answer's.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { MachineName } from '../../core/ids.ts';
import { isInFlight, itemAt, type RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function lateAnswersChangeNothing({ step }: Moment): string | null {
  const { event, before, address } = step;
  if (before === null || !('commandId' in event) || event.commandId === null) return null;
  // A check of the one item it answers spares the check of all.
  if ('index' in event && itemAt(before as RunState, event.index)?.awaiting === event.commandId) return null;
  if (event.type === 'sandboxCleanedUp' && awaitsCleanUp(before as RunState, event.commandId)) return null;
  if (awaitedBy(address.machine, before).includes(event.commandId)) return null;
  if (address.machine === 'run' && isAdmission(before as RunState, step.after as RunState)) return null;
  const changed = changedFields(before, step.after).join(', ');
  return `${event.type} answers ${event.commandId}, which is not awaited, and changed ${changed}`;
}

/** True when nothing but waiting items and recycled sandboxes has changed, and each item has only begun its next attempt. */
function isAdmission(before: RunState, after: RunState): boolean {
  const { items, byPhase, commandCount, sequence } = before;
  const pace = withAdmissionOf(before.pace, after.pace);
  const trip = withProbingOf(before.trip, after.trip);
  const sandboxes = withRecycledOf(before, after);
  if (!isSame(before, { ...after, items, byPhase, commandCount, sequence, pace, trip, sandboxes }))
    return false;
  return after.items.every((item, index) => {
    const was = before.items[index];
    if (was === item) return true;
    const isBegun = item.phase === 'starting' && item.conversationId === null && item.ending === null;
    return was?.phase === 'waiting' && isBegun && item.attempt === was.attempt + 1;
  });
}

/** Items that begin are counted, and what holds the next one is noted. */
function withAdmissionOf(before: RunState['pace'], after: RunState['pace']): RunState['pace'] {
  if (before === undefined || after === undefined) return after;
  const { lastStartAt, canary, heldBy, heldUntil } = before;
  return { ...after, lastStartAt, canary, heldBy, heldUntil };
}

/** The pause of the breaker is over: the first that begins is its try. */
function withProbingOf(before: RunState['trip'], after: RunState['trip']): RunState['trip'] {
  if (before === undefined || after === undefined) return after;
  return before.probingSince === null ? { ...after, probingSince: null } : after;
}

/**
 * One of a pool that was in use a moment ago, or one whose slot another waits for (D29), and that is let go or ordered
 * to rest now, is as it was otherwise.
 */
function withRecycledOf(
  { items, sandboxes: before }: RunState,
  { sandboxes: after }: RunState,
): RunState['sandboxes'] {
  const isSlotWanted = items.some((item) => isInFlight(item) && item.waitsFor !== undefined);
  return after.map((used, index) => {
    const was = before[index];
    const mayGo = used.pooled !== undefined || isSlotWanted;
    const isLetGo = was?.state === 'used' && used.state !== 'used' && mayGo;
    const isAskedToRest = used.isResting === true && isSlotWanted;
    if (was === undefined || !(isLetGo || isAskedToRest)) return used;
    const { state, awaiting, isResting } = was;
    return { ...used, state, awaiting, isResting };
  });
}

function changedFields(before: unknown, after: unknown): readonly string[] {
  const [was, is] = [before, after] as Readonly<Record<string, unknown>>[];
  return Object.keys({ ...was, ...is }).filter(
    (name) => JSON.stringify(was?.[name]) !== JSON.stringify(is?.[name]),
  );
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function awaitsCleanUp({ sandboxes }: RunState, commandId: string): boolean {
  return sandboxes.some(({ awaiting }) => awaiting === commandId);
}

/** Ids of the commands that a machine still waits for. */
export function awaitedBy(machine: MachineName, state: unknown): readonly (string | null)[] {
  switch (machine) {
    case 'sandbox':
    case 'conversation': {
      const { awaiting, watch } = state as SandboxState | ConversationState;
      return [awaiting, watch];
    }
    case 'run':
    case 'shard': {
      const { awaiting, warming = null, items, sandboxes } = state as RunState;
      return [
        awaiting,
        warming,
        ...items.map((item) => item.awaiting),
        ...sandboxes.map((used) => used.awaiting),
      ];
    }
  }
}
