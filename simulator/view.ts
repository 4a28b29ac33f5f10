/**
 * What of an entity's state is shown in traces: its public words, and the counts beside them.
 * Owns the choice of fields; must not compute anything that a machine did not.
 */
import type { ConversationState } from '../core/conversation/state.ts';
import type { MachineName } from '../core/ids.ts';
import type { ItemPhase } from '../core/machine/projection.ts';
import { itemsByPhase } from '../core/run/items-by-phase.ts';
import type { RunState } from '../core/run/state.ts';
import { transitionOf, type SandboxState } from '../core/sandbox/state.ts';

export type View = Readonly<Record<string, string | number | boolean | null>>;

/** Null before the first contact. */
export function phaseOf(state: unknown): string | null {
  return (state as { readonly phase: string } | null)?.phase ?? null;
}

/** Empty before the first contact. */
export function viewOf(machine: MachineName, state: unknown): View {
  if (state === null) return {};
  switch (machine) {
    case 'sandbox':
      return sandboxView(state as SandboxState);
    case 'conversation':
      return conversationView(state as ConversationState);
    case 'run':
    case 'shard':
      return runView(state as RunState);
  }
}

function sandboxView(state: SandboxState): View {
  const { phase, status, pauseReason, generation, detail, stale, archive, sessionStartedAt, releasedAt } =
    state;
  const attached = Object.keys(state.attached).length;
  const transition = transitionOf(state);
  return {
    phase,
    status,
    pauseReason,
    transition,
    generation,
    detail,
    stale,
    archive,
    sessionStartedAt,
    releasedAt,
    attached,
  };
}

function conversationView(state: ConversationState): View {
  const {
    phase,
    startTask,
    startTaskDetail,
    sandboxId,
    sandbox,
    executionStatus,
    interrupted,
    limitReached,
  } = state;
  return {
    phase,
    startTask,
    startTaskDetail,
    sandboxId,
    sandboxStatus: sandbox?.status ?? null,
    executionStatus,
    interrupted,
    limitReached,
    queued: state.queue.length,
  };
}

function runView(state: RunState): View {
  const { phase, mode, reason, spentNanoUsd, items } = state;
  const { waiting, inFlight } = itemsByPhase(state);
  const counts: Record<ItemPhase, number> = {
    waiting: waiting.length,
    starting: 0,
    working: 0,
    verifying: 0,
    collecting: 0,
    ended: items.length - waiting.length - inFlight.length,
  };
  for (const index of inFlight) counts[items[index]?.phase ?? 'ended'] += 1;
  return { phase, mode, reason, spentNanoUsd, ...counts };
}

/** The fields that are not what they were. */
export function changedView(before: View, after: View): View {
  const changed: Record<string, View[string]> = {};
  for (const [name, value] of Object.entries(after)) if (before[name] !== value) changed[name] = value;
  return changed;
}
