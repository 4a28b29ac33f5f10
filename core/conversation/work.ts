/**
 * How a conversation works once it is READY: messages out, reports in, resume on access.
 * Owns delivery in order and exactly once; must not place or start anything.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import { DELIVERY_ATTEMPTS_MAX, QUEUED_MESSAGES_MAX, RATE_LIMIT_WAIT_MS } from '../limits.ts';
import { remember, wasSeen } from '../machine/requests.ts';
import type { SandboxSnapshot } from '../machine/snapshot.ts';
import type { ConversationEvent } from './message.ts';
import { takeReport } from './report.ts';
import type { QueuedItem } from './state.ts';
import {
  abandonCommand,
  acceptSnapshot,
  agentAddress,
  type AgentAddress,
  askForResume,
  isOver,
  newRequestId,
  openOrder,
  orderAgent,
  refuseMessage,
  refuseQueue,
  stopWatching,
  type ConversationTurn,
} from './turn.ts';

type EventOf<Type extends ConversationEvent['type']> = Extract<ConversationEvent, { readonly type: Type }>;

/** What is still wanted, looked at again after every answer and every accepted notice. */
export function pursueWork(turn: ConversationTurn): void {
  const { state } = turn;
  const { sandbox } = state;
  if (sandbox === null) return;
  if (isOver(sandbox)) return becomeReadOnly(turn);
  if (!sandbox.usable) {
    if (state.queue.length > 0) pursueResume(turn, sandbox);
    return;
  }
  state.resumeRequests = 0;
  state.resumeRequestId = null;
  if (state.awaiting !== null) return;
  const [first] = state.queue;
  if (first !== undefined) return pursueItem(turn, first);
  watchWhileWorking(turn);
}

/** What is being deleted never comes back (D14), and its end may be long in coming: nobody is left waiting for it (D7). */
function pursueResume(turn: ConversationTurn, { transition }: SandboxSnapshot): void {
  if (transition === 'deleting') return giveUpQueue(turn, 'sandbox_missing');
  askForResume(turn, (given) => giveUpQueue(given, 'resume_failed'));
}

/** A new incarnation must be armed with its own keys before anything is handed to the agent (D15, D19). */
function pursueItem(turn: ConversationTurn, item: QueuedItem): void {
  const { state } = turn;
  if (state.openGeneration === state.sandbox?.generation)
    return orderAgent(turn, (agent) => deliverOrder(agent, item));
  orderAgent(turn, (agent) => openOrder(state, agent));
}

function deliverOrder({ conversationId, sandboxId, generation }: AgentAddress, item: QueuedItem) {
  return { conversationId, sandboxId, generation, type: 'deliverItem', item } as const;
}

function watchWhileWorking(turn: ConversationTurn): void {
  const { state } = turn;
  if (
    state.watch !== null ||
    state.sandbox === null ||
    state.executionStatus !== 'RUNNING' ||
    state.interrupted
  )
    return;
  // A limit is met once: a watch that met it again at once would never end.
  const { nanoUsdMax, noProgressMs } =
    state.limitReached === null ? state.spec : { nanoUsdMax: null, noProgressMs: null };
  const { conversationId, sandboxId, generation } = agentAddress(state, state.sandbox);
  state.watch = turn.order({
    conversationId,
    sandboxId,
    generation,
    type: 'watchAgent',
    nanoUsdMax,
    noProgressMs,
  });
}

function giveUpQueue(turn: ConversationTurn, code: ErrorCode): void {
  turn.state.resumeRequestId = null;
  turn.state.resumeRequests = 0;
  refuseQueue(turn, code, turn.state.sandbox?.detail ?? 'the sandbox was not resumed');
}

/** The sandbox is over: past messages can be read, nothing can be sent (spec "Read-only conversations"). */
function becomeReadOnly(turn: ConversationTurn): void {
  const { state } = turn;
  abandonCommand(turn);
  stopWatching(turn);
  state.phase = 'readOnly';
  state.agentActivity = 'resting';
  state.recheckAt = null;
  giveUpQueue(turn, state.sandbox?.status === 'ERROR' ? 'sandbox_error' : 'sandbox_missing');
}

export function notice(turn: ConversationTurn, event: EventOf<'sandboxNoticed'>): void {
  if (acceptSnapshot(turn, event.sandbox)) pursueWork(turn);
}

export function resumeAnswered(turn: ConversationTurn, event: EventOf<'resumeAnswered'>): void {
  const { state } = turn;
  if (state.resumeRequestId !== event.requestId) return;
  state.resumeRequestId = null;
  acceptSnapshot(turn, event.sandbox);
  if (event.refusal !== null) giveUpQueue(turn, event.refusal);
  pursueWork(turn);
}

/** Armed again: the agent's own word about where it stands comes with it. */
export function reopened(turn: ConversationTurn, event: EventOf<'agentOpened'>): void {
  const { state } = turn;
  if (state.awaiting !== event.commandId) return;
  state.openGeneration = state.awaitingGeneration;
  state.awaiting = null;
  state.awaitingGeneration = null;
  takeReport(turn, event.report);
  pursueWork(turn);
}

/** The agent cannot be armed in this incarnation: what waits for it is refused. */
export function reopenFailed(turn: ConversationTurn, event: EventOf<'stepFailed'>): void {
  if (turn.state.awaiting !== event.commandId) return;
  turn.state.awaiting = null;
  turn.state.awaitingGeneration = null;
  refuseQueue(turn, event.code, event.reason);
  pursueWork(turn);
}

export function delivered(turn: ConversationTurn, event: EventOf<'itemDelivered'>): void {
  const { state } = turn;
  if (state.awaiting !== event.commandId) return;
  state.awaiting = null;
  state.awaitingGeneration = null;
  state.queue = state.queue.filter((item) => item.itemId !== event.itemId);
  state.deliveries = 0;
  state.interrupted = false;
  state.limitReached = null;
  takeReport(turn, event.report);
  pursueWork(turn);
}

/** A bounded number of tries, then an explicit refusal; the next message is not held up by it. */
export function deliveryFailed(turn: ConversationTurn, event: EventOf<'deliveryFailed'>): void {
  const { state } = turn;
  if (state.awaiting !== event.commandId) return;
  state.awaiting = null;
  state.awaitingGeneration = null;
  state.deliveries += 1;
  if (state.deliveries >= DELIVERY_ATTEMPTS_MAX) {
    state.queue = state.queue.filter((item) => item.itemId !== event.itemId);
    state.deliveries = 0;
    refuseMessage(turn, event.itemId, 'agent_refused', event.reason);
  }
  pursueWork(turn);
}

/** From a callback (no command) or from the watch (its command ends with this report). */
export function reported(turn: ConversationTurn, event: EventOf<'agentReported'>): void {
  const { state } = turn;
  if (event.commandId !== null && event.commandId !== state.watch) return;
  if (event.commandId !== null) state.watch = null;
  takeReport(turn, event.report);
  pursueWork(turn);
}

/** A limit of the item ends the agent's work; what it made is still collected (D28). */
export function limitReached(turn: ConversationTurn, event: EventOf<'agentLimitReached'>): void {
  const { state } = turn;
  if (event.commandId !== state.watch) return;
  state.watch = null;
  state.limitReached = event.limit;
  interrupt(turn);
}

function interrupt(turn: ConversationTurn): void {
  if (turn.state.sandbox?.usable !== true) return;
  abandonCommand(turn);
  orderAgent(turn, (agent) => ({ ...agent, type: 'interruptAgent' }));
}

export function interruptRequested(turn: ConversationTurn, event: EventOf<'interruptRequested'>): void {
  if (!isFirst(turn, event.requestId)) return;
  refuseQueue(turn, 'agent_refused', 'the conversation was interrupted');
  interrupt(turn);
}

/** The agent stopped; its watch, or a callback, tells in which status. */
export function interrupted(turn: ConversationTurn, event: EventOf<'agentInterrupted'>): void {
  if (turn.state.awaiting !== event.commandId) return;
  turn.state.awaiting = null;
  turn.state.awaitingGeneration = null;
  pursueWork(turn);
}

function isFirst({ state }: ConversationTurn, requestId: string): boolean {
  if (wasSeen(state.seen, requestId)) return false;
  state.seen = remember(state.seen, requestId);
  return true;
}

/** Accepted means delivered or refused; a repeat of a message id changes nothing. */
export function receive(turn: ConversationTurn, event: EventOf<'messageReceived'>): void {
  if (!enqueue(turn, event.messageId, messageItem(event))) return;
  pursueWork(turn);
}

/** Before READY a message waits its turn; it is never dropped. */
export function receiveEarly(turn: ConversationTurn, event: EventOf<'messageReceived'>): void {
  enqueue(turn, event.messageId, messageItem(event));
}

export function refuseReceived(turn: ConversationTurn, event: EventOf<'messageReceived'>): void {
  if (!isFirst(turn, event.messageId)) return;
  const over = turn.state.sandbox?.status === 'MISSING' ? 'sandbox_missing' : 'sandbox_error';
  refuseMessage(turn, event.messageId, over, 'the conversation is read-only');
}

function messageItem(event: EventOf<'messageReceived'>): QueuedItem {
  return { kind: 'message', itemId: event.messageId, text: event.text, run: event.run };
}

function enqueue(turn: ConversationTurn, requestId: string, item: QueuedItem): boolean {
  const { state } = turn;
  if (!isFirst(turn, requestId)) return false;
  if (state.queue.length >= QUEUED_MESSAGES_MAX) {
    refuseMessage(turn, item.itemId, 'queue_full', `${QUEUED_MESSAGES_MAX} messages are waiting`);
    return false;
  }
  state.queue = [...state.queue, item];
  return true;
}

export function answerConfirmation(turn: ConversationTurn, event: EventOf<'confirmationAnswered'>): void {
  const { requestId: itemId, accept, reason } = event;
  if (enqueue(turn, itemId, { kind: 'confirmation', itemId, accept, reason })) pursueWork(turn);
}

export function continueWork(turn: ConversationTurn, event: EventOf<'continueRequested'>): void {
  if (enqueue(turn, event.requestId, { kind: 'continue', itemId: event.requestId })) pursueWork(turn);
}

/** Access resumes a released sandbox, and does nothing else (D7). */
export function access(turn: ConversationTurn, event: EventOf<'accessRequested'>): void {
  if (isFirst(turn, event.requestId)) askForResume(turn, () => undefined);
}

/** A rate limit is over: the agent goes on by itself (D6). */
export function recheck(turn: ConversationTurn): void {
  const { state } = turn;
  if (state.recheckAt === null || turn.now < state.recheckAt) return;
  state.recheckAt = null;
  const { sandbox } = state;
  if (sandbox === null || state.queue.some(({ kind }) => kind === 'continue')) return;
  // On its way down nobody can say yet who wanted it: looked at again when it is at rest.
  if (sandbox.transition === 'pausing') return void (state.recheckAt = turn.now + RATE_LIMIT_WAIT_MS);
  // What a user or the session limit ended is not brought back for this; what was let go while it waited is.
  const wasLetGo = sandbox.pauseReason === 'idle' || sandbox.pauseReason === 'capacity';
  if (!sandbox.usable && !wasLetGo) return;
  const itemId = newRequestId(turn);
  state.queue = [...state.queue, { kind: 'continue', itemId }];
  pursueWork(turn);
}
