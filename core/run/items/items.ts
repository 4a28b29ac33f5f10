/**
 * The life of one item: start, work, verify, collect, end or try again.
 * Owns how notices of its conversation are read; must not decide about the run as a whole.
 */
import { waitOf } from '../../plan/item-rules.ts';
import { MINUTE_MS } from '../../time.ts';
import { HOST_LOST } from '../../machine/projection.ts';
import type { ConversationSnapshot } from '../../machine/snapshot.ts';
import { recordSoftLimit } from '../admission/budget.ts';
import { endingOf, type Evidence } from '../failure-class.ts';
import type { RunEvent } from '../message.ts';
import { slowDown } from '../admission/pace.ts';
import { ledInFlight, ledItem } from '../shards.ts';
import { indexAt, itemAt, type Ending, type RunItem } from '../state.ts';
import {
  awaitingItem,
  changeItem,
  itemOrder,
  newRequestId,
  sendToConversation,
  type RunContext,
} from '../run-context.ts';
import { endAttempt } from './attempt-end.ts';
import { itemDeadline } from './item-deadlines.ts';
import { slotWait, startsWaitingForRate } from './item-waits.ts';
import { offerPlaces } from './offers.ts';
import { countArrival } from '../admission/pool.ts';
import { keepUncollected, noteSandbox } from '../cleanup.ts';
import { clocked, workingLimitAt } from '../working-time.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** An agent that was requested to stop has this long; then its item is collected as it stands. */
const STOP_WAIT_MS = 2 * MINUTE_MS;
/** Sessions one attempt may be continued over: the loop has no other end of its own. */
const CONTINUATIONS_MAX = 14;

export function conversationStarted(context: RunContext, event: EventOf<'conversationStarted'>): void {
  if (awaitingItem(context, event) === null) return;
  changeItem(context, event.index, { awaiting: null, conversationId: event.conversationId });
}

export function startRefused(context: RunContext, event: EventOf<'startRefused'>): void {
  const item = awaitingItem(context, event);
  if (item?.phase === 'starting')
    endAttempt(context, event.index, endingOf({ seen: 'start_refused', reason: event.reason }));
}

const DELETED = endingOf({ seen: 'conversation_deleted' });

/** Newest wins; a notice of an earlier attempt is only about its sandbox. */
export function noticed(context: RunContext, event: EventOf<'conversationNoticed'>): void {
  const { conversation } = event;
  if (conversation.itemIndex === null) return;
  if (context.state.slice === undefined) noteSandbox(context, conversation);
  const item = itemAt(context.state, conversation.itemIndex);
  if (item === undefined || !isNews(item, conversation)) return;
  countArrival(context, item, conversation);
  changeItem(context, conversation.itemIndex, {
    conversationId: conversation.conversationId,
    noticed: conversation.sequence,
    sandboxId: conversation.sandboxId,
    sandboxStatus: conversation.sandboxStatus,
    executionStatus: conversation.executionStatus,
    limitReached: conversation.limitReached,
    ...slotWait(item, conversation, context.now),
    ...(item.phase === 'working' ? clocked(item, conversation, context.now) : {}),
  });
  if (startsWaitingForRate(item, conversation)) slowDown(context, 'rate_limited');
  offerPlaces(context, item, conversation);
  // The shard that leads the item decides what it means for it.
  const known = ledItem(context.state, conversation.itemIndex);
  if (known === null) return;
  if (item.sandboxStatus !== 'MISSING') readLoss(context, conversation.itemIndex, known, conversation);
  readNotice(context, conversation.itemIndex, known, conversation);
}

/** The first notice may overtake the answer with the conversation's id: then the id is taken from the notice. */
function isNews(item: RunItem, conversation: ConversationSnapshot): boolean {
  if (item.conversationId === null)
    return item.phase === 'starting' && !item.past.includes(conversation.conversationId);
  return item.conversationId === conversation.conversationId && conversation.sequence > item.noticed;
}

/** A command on a host that was given up is cancelled: what is stored elsewhere is collected. */
function readLoss(
  context: RunContext,
  index: number,
  { phase, awaiting, ending }: RunItem,
  { sandboxStatus: status, detail }: ConversationSnapshot,
): void {
  if (status !== 'MISSING' || detail !== HOST_LOST) return;
  if (awaiting === null || (phase !== 'verifying' && phase !== 'collecting')) return;
  context.order({ type: 'cancelCommand', commandId: awaiting });
  collect(context, index, spoiled(ending, { seen: 'sandbox_lost', status, detail }));
}

/** What is seen after the work is how an attempt ends whose work was good; any other has ended before. */
function spoiled(ending: Ending | null, seen: Evidence): Ending {
  return ending === null || ending.outcome === 'succeeded' ? endingOf(seen) : ending;
}

function readNotice(
  context: RunContext,
  index: number,
  item: RunItem,
  conversation: ConversationSnapshot,
): void {
  if (item.phase === 'starting') readStart(context, index, item, conversation);
  const now = itemAt(context.state, index);
  if (now?.phase === 'working') readWork(context, index, now, conversation);
}

function readStart(
  context: RunContext,
  index: number,
  item: RunItem,
  conversation: ConversationSnapshot,
): void {
  if (conversation.startTask === 'READY') {
    const clock = clocked({ ...item, workedMs: 0, workingSince: null }, conversation, context.now);
    changeItem(context, index, { phase: 'working', awaiting: null, ...clock });
    // The stop was requested while it came up: only now is there an agent that receives it.
    if (item.ending !== null) stopItem(context, index, item.ending);
  } else if (conversation.deleted) endAttempt(context, index, item.ending ?? DELETED);
  if (conversation.startTask !== 'ERROR') return;
  endAttempt(context, index, item.ending ?? endingOf({ seen: 'start_failed', detail: conversation.detail }));
}

function readWork(
  context: RunContext,
  index: number,
  item: RunItem,
  conversation: ConversationSnapshot,
): void {
  if (conversation.deleted) return collect(context, index, item.ending ?? DELETED);
  const { sandboxStatus: status, detail } = conversation;
  if (status === 'ERROR' || status === 'MISSING')
    return collect(context, index, item.ending ?? endingOf({ seen: 'sandbox_lost', status, detail }));
  // It had been READY: its engine has lost it, and no workflow leads it any more.
  if (conversation.startTask === 'ERROR')
    return collect(context, index, item.ending ?? endingOf({ seen: 'start_failed', detail }));
  if (!conversation.settled) return;
  if (item.ending !== null) return collect(context, index, item.ending);
  if (conversation.interrupted && conversation.limitReached === null)
    return continueAttempt(context, index, item, conversation);
  const ending = endingOfRest(context, item, conversation);
  if (ending === null) return;
  if (ending.outcome === 'succeeded' && item.hasVerify) return verify(context, index, ending);
  collect(context, index, ending);
}

/**
 * Work that was cut off goes on in the same attempt (D15): at once after a release by a rule, and after a user's pause
 * when its user has brought the sandbox back.
 */
function continueAttempt(
  context: RunContext,
  index: number,
  item: RunItem,
  conversation: ConversationSnapshot,
): void {
  if (conversation.pauseReason === 'user') return;
  if (
    conversation.pauseReason === 'session_limit' &&
    waitOf(item.own, context.state.rules).onSessionLimit === 'stop'
  ) {
    return collect(context, index, endingOf({ seen: 'limit_reached', limit: 'session_limit' }));
  }
  if (item.continued >= CONTINUATIONS_MAX)
    return collect(context, index, endingOf({ seen: 'cut_off_too_often' }));
  const changed = changeItem(context, index, { continued: item.continued + 1 });
  if (changed !== null)
    sendToConversation(context, changed, { type: 'continueRequested', requestId: newRequestId(context) });
}

/** What a resting agent means for its item; null while the job waits for something else (D28). */
function endingOfRest(
  { state }: RunContext,
  item: RunItem,
  conversation: ConversationSnapshot,
): Ending | null {
  const { limitReached: limit, executionStatus: status, detail } = conversation;
  if (limit !== null) return endingOf({ seen: 'limit_reached', limit });
  if (status === null || !waitOf(item.own, state.rules).until.includes(status)) return null;
  return endingOf({ seen: 'agent_rests', status, detail });
}

/** Whether the work is good is the job's own check; the agent's status is not rewritten by it (D28). */
function verify(context: RunContext, index: number, ending: Ending): void {
  const item = changeItem(context, index, { phase: 'verifying', ending });
  if (item === null || item.conversationId === null || item.sandboxId === null) return;
  const { conversationId, sandboxId } = item;
  const awaiting = context.order({
    ...itemOrder(context, index, item),
    type: 'verifyItem',
    conversationId,
    sandboxId,
  });
  changeItem(context, index, { awaiting });
}

export function verified(context: RunContext, event: EventOf<'itemVerified'>): void {
  const item = awaitingItem(context, event);
  if (item?.phase !== 'verifying' || item.ending === null) return;
  const outcome = event.passed ? item.ending.outcome : 'check_failed';
  collect(context, event.index, { ...item.ending, outcome, detail: event.detail });
}

/** A check that could not be run is no verdict on the work: the attempt failed, and its class may try again. */
export function verifyUnsuccessful(context: RunContext, event: EventOf<'verifyFailed'>): void {
  const item = awaitingItem(context, event);
  if (item?.phase !== 'verifying') return;
  const { index, lost, reason } = event;
  const seen: Evidence =
    lost === undefined ? { seen: 'verify_failed', reason } : { seen: 'sandbox_lost', ...lost };
  collect(context, index, endingOf(seen));
}

/** Collection always comes before anything is cleaned up. */
function collect(context: RunContext, index: number, ending: Ending): void {
  const item = changeItem(context, index, { phase: 'collecting', ending, stopBy: null, awaiting: null });
  if (item === null || item.conversationId === null) return endAttempt(context, index, ending);
  const awaiting = context.order({
    ...itemOrder(context, index, item),
    type: 'collectItem',
    conversationId: item.conversationId,
    sandboxId: item.sandboxId,
    workspaceReadable: item.sandboxStatus === 'RUNNING' || item.sandboxStatus === 'PAUSED',
  });
  changeItem(context, index, { awaiting });
}

/** The answer may come before the notice of the loss: what was good is lost with its workspace all the same. */
export function collected(context: RunContext, event: EventOf<'itemCollected'>): void {
  const item = awaitingItem(context, event);
  if (item?.phase !== 'collecting' || item.ending === null) return;
  enterCost(context, item, event);
  const { withheld, lost } = event;
  const ending = lost === undefined ? item.ending : spoiled(item.ending, { seen: 'sandbox_lost', ...lost });
  const { detail } = ending;
  const explained = withheld === undefined ? detail : detail === null ? withheld : `${detail}; ${withheld}`;
  endAttempt(context, event.index, { ...ending, detail: explained });
}

/** What an attempt cost counts whatever becomes of its collection (D30). */
function enterCost(
  context: RunContext,
  { costNanoUsd: before }: Pick<RunItem, 'costNanoUsd'>,
  { index, costNanoUsd }: { readonly index: number; readonly costNanoUsd: number },
): void {
  context.state.spentNanoUsd += costNanoUsd;
  recordSoftLimit(context);
  changeItem(context, index, { costNanoUsd: before + costNanoUsd });
}

/** A success whose results could not be kept is none. */
export function collectUnsuccessful(context: RunContext, event: EventOf<'collectFailed'>): void {
  const item = awaitingItem(context, event);
  if (item?.phase !== 'collecting' || item.ending === null) return;
  const { index, costNanoUsd } = event;
  if (costNanoUsd !== undefined) enterCost(context, item, { index, costNanoUsd });
  keepUncollected(context, item.sandboxId);
  endAttempt(context, index, spoiled(item.ending, { seen: 'collect_failed', reason: event.reason }));
}

/** Sends the stop to the agent, or to the item's shard, and remembers how the attempt will end once it stops. */
export function stopItem(context: RunContext, index: number, ending: Ending): void {
  changeItem(context, index, { ending, stopBy: context.now + STOP_WAIT_MS });
  const item = ledItem(context.state, index);
  if (item !== null)
    sendToConversation(context, item, { type: 'interruptRequested', requestId: newRequestId(context) });
}

export function itemsExpired(context: RunContext): void {
  const { state } = context;
  for (const position of ledInFlight(state)) itemExpired(context, indexAt(state, position));
}

/** A deadline of the job ends as a timeout, a limit of the item as an outcome (D28). */
function itemExpired(context: RunContext, index: number): void {
  const item = itemAt(context.state, index);
  if (item === undefined || item.phase === 'waiting') return;
  const due = itemDeadline(item, context.state.rules);
  if (due === null || context.now < due) return;
  if (item.stopBy !== null)
    return collect(context, index, item.ending ?? endingOf({ seen: 'agent_did_not_stop' }));
  const limitAt = workingLimitAt(item);
  const isOverWorking = limitAt !== null && context.now >= limitAt;
  stopItem(
    context,
    index,
    endingOf(isOverWorking ? { seen: 'limit_reached', limit: 'working' } : { seen: 'deadline_passed' }),
  );
}
