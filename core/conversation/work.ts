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
  type ConversationContext,
} from './conversation-context.ts';

type EventOf<Type extends ConversationEvent['type']> = Extract<ConversationEvent, { readonly type: Type }>;

/** What is still wanted, decided again after every answer and every accepted notice. */
export function pursueWork(context: ConversationContext): void {
  const { state } = context;
  const { sandbox } = state;
  if (sandbox === null) return;
  if (isOver(sandbox)) return becomeReadOnly(context);
  if (!sandbox.usable) {
    if (state.queue.length > 0) pursueResume(context, sandbox);
    return;
  }
  state.resumeRequests = 0;
  state.resumeRequestId = null;
  if (state.awaiting !== null) return;
  const [first] = state.queue;
  if (first !== undefined) return pursueItem(context, first);
  watchWhileWorking(context);
}

/** What is being deleted never comes back (D14), and its end may take long: no client is left waiting for it (D7). */
function pursueResume(context: ConversationContext, { transition }: SandboxSnapshot): void {
  if (transition === 'deleting') return giveUpQueue(context, 'sandbox_missing');
  askForResume(context, (given) => giveUpQueue(given, 'resume_failed'));
}

/** A new incarnation must be armed with its own keys before anything is delivered to the agent (D15, D19). */
function pursueItem(context: ConversationContext, item: QueuedItem): void {
  const { state } = context;
  if (state.openGeneration === state.sandbox?.generation)
    return orderAgent(context, (agent) => deliverOrder(agent, item));
  orderAgent(context, (agent) => openOrder(state, agent));
}

function deliverOrder({ conversationId, sandboxId, generation }: AgentAddress, item: QueuedItem) {
  return { conversationId, sandboxId, generation, type: 'deliverItem', item } as const;
}

function watchWhileWorking(context: ConversationContext): void {
  const { state } = context;
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
  state.watch = context.order({
    conversationId,
    sandboxId,
    generation,
    type: 'watchAgent',
    nanoUsdMax,
    noProgressMs,
  });
}

function giveUpQueue(context: ConversationContext, code: ErrorCode): void {
  context.state.resumeRequestId = null;
  context.state.resumeRequests = 0;
  refuseQueue(context, code, context.state.sandbox?.detail ?? 'the sandbox was not resumed');
}

/** The sandbox is over: past messages can be read, nothing can be sent (spec "Read-only conversations"). */
function becomeReadOnly(context: ConversationContext): void {
  const { state } = context;
  abandonCommand(context);
  stopWatching(context);
  state.phase = 'readOnly';
  state.agentActivity = 'resting';
  state.recheckAt = null;
  giveUpQueue(context, state.sandbox?.status === 'ERROR' ? 'sandbox_error' : 'sandbox_missing');
}

export function notice(context: ConversationContext, event: EventOf<'sandboxNoticed'>): void {
  if (acceptSnapshot(context, event.sandbox)) pursueWork(context);
}

export function resumeAnswered(context: ConversationContext, event: EventOf<'resumeAnswered'>): void {
  const { state } = context;
  if (state.resumeRequestId !== event.requestId) return;
  state.resumeRequestId = null;
  acceptSnapshot(context, event.sandbox);
  if (event.refusal !== null) giveUpQueue(context, event.refusal);
  pursueWork(context);
}

/** Armed again: the answer carries the agent's own report of its status. */
export function reopened(context: ConversationContext, event: EventOf<'agentOpened'>): void {
  const { state } = context;
  if (state.awaiting !== event.commandId) return;
  state.openGeneration = state.awaitingGeneration;
  state.awaiting = null;
  state.awaitingGeneration = null;
  takeReport(context, event.report);
  pursueWork(context);
}

/** The agent cannot be armed in this incarnation: what waits for it is refused. */
export function reopenFailed(context: ConversationContext, event: EventOf<'stepFailed'>): void {
  if (context.state.awaiting !== event.commandId) return;
  context.state.awaiting = null;
  context.state.awaitingGeneration = null;
  refuseQueue(context, event.code, event.reason);
  pursueWork(context);
}

export function delivered(context: ConversationContext, event: EventOf<'itemDelivered'>): void {
  const { state } = context;
  if (state.awaiting !== event.commandId) return;
  state.awaiting = null;
  state.awaitingGeneration = null;
  state.queue = state.queue.filter((item) => item.itemId !== event.itemId);
  state.deliveries = 0;
  state.interrupted = false;
  state.limitReached = null;
  takeReport(context, event.report);
  pursueWork(context);
}

/** A bounded number of tries, then an explicit refusal; the next message is not held up by it. */
export function deliveryFailed(context: ConversationContext, event: EventOf<'deliveryFailed'>): void {
  const { state } = context;
  if (state.awaiting !== event.commandId) return;
  state.awaiting = null;
  state.awaitingGeneration = null;
  state.deliveries += 1;
  if (state.deliveries >= DELIVERY_ATTEMPTS_MAX) {
    state.queue = state.queue.filter((item) => item.itemId !== event.itemId);
    state.deliveries = 0;
    refuseMessage(context, event.itemId, 'agent_refused', event.reason);
  }
  pursueWork(context);
}

/** From a callback (no command) or from the watch (its command ends with this report). */
export function reported(context: ConversationContext, event: EventOf<'agentReported'>): void {
  const { state } = context;
  if (event.commandId !== null && event.commandId !== state.watch) return;
  if (event.commandId !== null) state.watch = null;
  takeReport(context, event.report);
  pursueWork(context);
}

/** A limit of the item ends the agent's work; what it made is still collected (D28). */
export function limitReached(context: ConversationContext, event: EventOf<'agentLimitReached'>): void {
  const { state } = context;
  if (event.commandId !== state.watch) return;
  state.watch = null;
  state.limitReached = event.limit;
  interrupt(context);
}

function interrupt(context: ConversationContext): void {
  if (context.state.sandbox?.usable !== true) return;
  abandonCommand(context);
  orderAgent(context, (agent) => ({ ...agent, type: 'interruptAgent' }));
}

export function interruptRequested(context: ConversationContext, event: EventOf<'interruptRequested'>): void {
  if (!isFirst(context, event.requestId)) return;
  refuseQueue(context, 'agent_refused', 'the conversation was interrupted');
  interrupt(context);
}

/** The agent stopped; its watch, or a callback, reports the status. */
export function interrupted(context: ConversationContext, event: EventOf<'agentInterrupted'>): void {
  if (context.state.awaiting !== event.commandId) return;
  context.state.awaiting = null;
  context.state.awaitingGeneration = null;
  pursueWork(context);
}

function isFirst({ state }: ConversationContext, requestId: string): boolean {
  if (wasSeen(state.seen, requestId)) return false;
  state.seen = remember(state.seen, requestId);
  return true;
}

/** Accepted means delivered or refused; a repeat of a message id changes nothing. */
export function receive(context: ConversationContext, event: EventOf<'messageReceived'>): void {
  if (!enqueue(context, event.messageId, messageItem(event))) return;
  pursueWork(context);
}

/** Before READY a message waits its turn; it is never dropped. */
export function receiveEarly(context: ConversationContext, event: EventOf<'messageReceived'>): void {
  enqueue(context, event.messageId, messageItem(event));
}

export function refuseReceived(context: ConversationContext, event: EventOf<'messageReceived'>): void {
  if (!isFirst(context, event.messageId)) return;
  const over = context.state.sandbox?.status === 'MISSING' ? 'sandbox_missing' : 'sandbox_error';
  refuseMessage(context, event.messageId, over, 'the conversation is read-only');
}

function messageItem(event: EventOf<'messageReceived'>): QueuedItem {
  return { kind: 'message', itemId: event.messageId, text: event.text, run: event.run };
}

function enqueue(context: ConversationContext, requestId: string, item: QueuedItem): boolean {
  const { state } = context;
  if (!isFirst(context, requestId)) return false;
  if (state.queue.length >= QUEUED_MESSAGES_MAX) {
    refuseMessage(context, item.itemId, 'queue_full', `${QUEUED_MESSAGES_MAX} messages are waiting`);
    return false;
  }
  state.queue = [...state.queue, item];
  return true;
}

export function answerConfirmation(
  context: ConversationContext,
  event: EventOf<'confirmationAnswered'>,
): void {
  const { requestId: itemId, accept, reason } = event;
  if (enqueue(context, itemId, { kind: 'confirmation', itemId, accept, reason })) pursueWork(context);
}

export function continueWork(context: ConversationContext, event: EventOf<'continueRequested'>): void {
  if (enqueue(context, event.requestId, { kind: 'continue', itemId: event.requestId })) pursueWork(context);
}

/** Access resumes a released sandbox, and does nothing else (D7). */
export function access(context: ConversationContext, event: EventOf<'accessRequested'>): void {
  if (isFirst(context, event.requestId)) askForResume(context, () => undefined);
}

/** A rate limit is over: the agent goes on by itself (D6). */
export function recheck(context: ConversationContext): void {
  const { state } = context;
  if (state.recheckAt === null || context.now < state.recheckAt) return;
  state.recheckAt = null;
  const { sandbox } = state;
  if (sandbox === null || state.queue.some(({ kind }) => kind === 'continue')) return;
  // While it stops, it is unknown who wanted that: checked again when it is at rest.
  if (sandbox.transition === 'pausing') return void (state.recheckAt = context.now + RATE_LIMIT_WAIT_MS);
  // What a user or the session limit ended is not resumed for this; what was paused while it waited is.
  const wasLetGo = sandbox.pauseReason === 'idle' || sandbox.pauseReason === 'capacity';
  if (!sandbox.usable && !wasLetGo) return;
  const itemId = newRequestId(context);
  state.queue = [...state.queue, { kind: 'continue', itemId }];
  pursueWork(context);
}
