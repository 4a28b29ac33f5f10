/**
 * Invariants of messages, transcripts and homes of conversations.
 * Owns the checks on steps of a conversation, and on its messages at rest.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { SandboxPhase, SandboxState } from '../../core/sandbox/state.ts';
import type { Finding, Moment, Rest, SafetyCheck } from './checker.ts';
import { conversationsAt, sandboxesAt } from './of-rest.ts';

/** I7: the events of a conversation never become fewer. It remembers how many there were. */
export function transcriptGrows(): SafetyCheck {
  const lengths = new Map<string, number>();
  return ({ step, facts }: Moment) => {
    const { id } = step.address;
    const length = facts.transcriptOf(id as ConversationId);
    const before = lengths.get(id) ?? 0;
    lengths.set(id, length);
    return length < before ? `its transcript had ${before} events, and has ${length}` : null;
  };
}

/**
 * I8: an accepted message reaches the agent exactly once, or is refused once (D7). Owns the check against twice; that
 * none is lost is a matter of rest.
 */
export function deliveredOnce({ step, facts }: Moment): string | null {
  const { event } = step;
  if (event.type !== 'itemDelivered' && event.type !== 'messageReceived' && !ordersRecord(step)) return null;
  const before = step.before as ConversationState | null;
  for (const { itemId } of before?.queue ?? []) {
    const delivered = facts.delivered.get(itemId) ?? 0;
    const refused = facts.refused.get(itemId) ?? 0;
    if (delivered > 1 || refused > 1 || (delivered > 0 && refused > 0 && !isInDoubt(step)))
      return `message "${itemId}" was delivered ${delivered} times and refused ${refused} times`;
  }
  return null;
}

function ordersRecord({ commands }: Moment['step']): boolean {
  return commands.some(({ type }) => type === 'record');
}

/** Delivered while its answer was abandoned: the agent may have it although its sender got a refusal. */
function isInDoubt({ commands }: Moment['step']): boolean {
  return commands.some(({ type }) => type === 'cancelCommand');
}

/**
 * I12: a conversation is attached to one sandbox, and an explicit choice is honoured (D16). It remembers which
 * conversation is attached where.
 */
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

/** I13: an agent is only called in the present incarnation of its sandbox (D5, D14). */
export function presentIncarnation({ step }: Moment): string | null {
  const { sandbox } = step.after as ConversationState;
  for (const command of step.commands) {
    if (command.type === 'removeConversation' || !('generation' in command)) continue;
    if (sandbox === null || !sandbox.usable)
      return `${command.type} is ordered, and the sandbox is not usable`;
    if (command.generation !== sandbox.generation)
      return `${command.type} is for generation ${command.generation}, and ${sandbox.generation} is the present one`;
  }
  return null;
}

/**
 * I25: an agent gets something only when it is armed for this incarnation and its sandbox is in no transition,
 * and what was delivered leaves the queue (D7, D15, D19). Owns the checks on orders of a conversation.
 */
export function handedToTheArmed({ step }: Moment): string | null {
  const { event, commands } = step;
  const { sandbox, openGeneration, queue } = step.after as ConversationState;
  if (event.type === 'itemDelivered' && queue.some(({ itemId }) => itemId === event.itemId))
    return `message "${event.itemId}" was delivered, and is still queued`;
  for (const command of commands) {
    if (command.type === 'removeConversation' || !('generation' in command)) continue;
    const transition = sandbox?.transition ?? null;
    if (transition !== null) return `${command.type} is ordered, and the sandbox is ${transition}`;
    if (command.type === 'deliverItem' && openGeneration !== command.generation)
      return `an item is delivered, and the agent is armed for generation ${openGeneration ?? 'none'}`;
  }
  return null;
}

/**
 * I29: when the wait for a rate limit is over, the agent gets an order to go on (D6). What becomes of an agent whose
 * sandbox was let go meanwhile is for the rules to say.
 */
export function rateLimitsEnd({ step }: Moment): string | null {
  const before = step.before as ConversationState | null;
  const { phase, recheckAt, sandbox, queue } = step.after as ConversationState;
  if (step.event.type !== 'deadline' || phase !== 'active') return null;
  if (before === null || before.recheckAt === null || recheckAt !== null || sandbox?.usable !== true)
    return null;
  return queue.some(({ kind }) => kind === 'continue')
    ? null
    : 'its rate limit is over, and its agent is not told';
}

/** Phases in which a sandbox still owes an answer to the conversations that requested its resume. */
const RESUMING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'starting',
  'pausing',
  'reserving',
  'resuming',
]);

/**
 * L5: every accepted message was delivered once, or refused once, unless it is on its way or its conversation was
 * deleted. Queues are on their way only while an agent works on them.
 */
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
  // Delivered while its answer was abandoned: its sender got a refusal, and I8 has judged that moment.
  const inDoubt = delivered === 1 && refused === 1;
  if (delivered + refused === 1 || inDoubt) return null;
  return `message "${messageId}" was delivered ${delivered} times and refused ${refused} times`;
}

/** Starting, resuming, or waiting for a command that is out. */
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
