/**
 * I12: a conversation is attached to one sandbox, and an explicit choice is honoured (D16).
 * Owns the memory of who is attached where.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment, SafetyCheck } from './checker.ts';

export function oneHome(): SafetyCheck {
  const homes = new Map<string, string>();
  return ({ step }: Moment) => {
    if (step.address.machine === 'conversation') return explicitHonoured(step.after as ConversationState);
    if (step.address.machine !== 'sandbox') return null;
    const before = (step.before as SandboxState | null)?.attached ?? {};
    const { attached, sandboxId } = step.after as SandboxState;
    if (attached === before) return null;
    for (const id of Object.keys(before))
      if (!(id in attached) && homes.get(id) === sandboxId) homes.delete(id);
    for (const id of Object.keys(attached)) {
      const home = homes.get(id) ?? sandboxId;
      if (home !== sandboxId) return `conversation ${id} is attached here and to ${home}`;
      homes.set(id, home);
    }
    return null;
  };
}

function explicitHonoured({ spec, sandboxId }: ConversationState): string | null {
  if (spec.sandboxId === null || sandboxId === null || spec.sandboxId === sandboxId) return null;
  return `sandbox ${spec.sandboxId} was asked for, and it is in ${sandboxId}`;
}
