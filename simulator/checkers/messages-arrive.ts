/**
 * L5: every accepted message was delivered once, or refused once, unless it is on its way or its conversation was deleted.
 * Owns the one check; queues are on their way only while somebody works on them.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { SandboxPhase } from '../../core/sandbox/state.ts';
import type { Finding, Rest } from './checker.ts';
import { conversationsAt, sandboxesAt } from './states-at-rest.ts';

/** Phases in which a sandbox still owes an answer to whoever asked it to resume. */
const RESUMING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'starting',
  'pausing',
  'reserving',
  'resuming',
]);

export function messagesArrive(rest: Rest): readonly Finding[] {
  const states = new Map(conversationsAt(rest).map(({ state }) => [state.spec.conversationId, state]));
  const isOnItsWay = wayOf(rest);
  const found: Finding[] = [];
  for (const [messageId, id] of rest.facts.accepted) {
    const state = states.get(id);
    if (state === undefined || state.phase === 'deleting' || state.phase === 'deleted') continue;
    const problem = isOnItsWay(messageId, state) ? null : countedWrong(messageId, rest);
    if (problem !== null) found.push({ entity: `conversation/${id}`, problem });
  }
  return found;
}

function countedWrong(messageId: string, { facts }: Rest): string | null {
  const delivered = facts.delivered.get(messageId) ?? 0;
  const refused = facts.refused.get(messageId) ?? 0;
  if (delivered + refused === 0) return `message "${messageId}" was neither delivered nor refused`;
  // Handed over while its answer was abandoned: its sender was told otherwise, and I8 has judged that moment.
  const inDoubt = delivered === 1 && refused === 1;
  if (delivered + refused === 1 || inDoubt) return null;
  return `message "${messageId}" was delivered ${delivered} times and refused ${refused} times`;
}

/** Starting, resuming, or in the hands of a command that is out. */
function wayOf(rest: Rest): (messageId: string, state: ConversationState) => boolean {
  const out = new Set(rest.outstanding.map(({ id }) => id));
  const phases = new Map(sandboxesAt(rest).map(({ state }) => [state.sandboxId, state.phase]));
  return (messageId, { queue, awaiting, resumeRequestId, startDeadline, sandboxId }) => {
    if (!queue.some(({ itemId }) => itemId === messageId)) return false;
    if (startDeadline !== null || (awaiting !== null && out.has(awaiting))) return true;
    const phase = sandboxId === null ? undefined : phases.get(sandboxId);
    return resumeRequestId !== null && phase !== undefined && RESUMING.has(phase);
  };
}
