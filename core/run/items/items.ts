/**
 * The life of one item: start, work, verify, collect, end or try again.
 * Owns how notices of its conversation are read; must not decide about the run as a whole.
 */
import { waitOf } from '../../plan/item-rules.ts';
import { MINUTE_MS } from '../../time.ts';
import type { ConversationSnapshot } from '../../machine/snapshot.ts';
import { countForBreaker, probeEnded, retryAt } from '../admission/breaker.ts';
import { tellSoftLimit } from '../admission/budget.ts';
import { endingOf } from '../failure-class.ts';
import type { RunEvent } from '../message.ts';
import { attemptEnded, slowDown } from '../admission/pace.ts';
import { isSharded } from '../shards.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import { indexAt, itemAt, type Ending, type RunItem, type RunState } from '../state.ts';
import {
  awaitingItem,
  changeItem,
  itemOrder,
  newRequestId,
  tellConversation,
  type RunTurn,
} from '../turn.ts';
import { slotWait, startsWaitingForRate } from './item-waits.ts';
import { offerPlaces, placeGivenBack } from './offers.ts';
import { countArrival } from '../admission/pool.ts';
import { keepUncollected, noteSandbox } from '../cleanup.ts';
import { attemptEndsBy, clocked, workingLimitAt } from '../working-time.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** An agent told to stop has this long; then its item is collected as it stands. */
const STOP_WAIT_MS = 2 * MINUTE_MS;
/** Sessions one attempt may be continued over: the loop has no other end of its own. */
const CONTINUATIONS_MAX = 14;

export function conversationStarted(turn: RunTurn, event: EventOf<'conversationStarted'>): void {
  if (awaitingItem(turn, event) === null) return;
  changeItem(turn, event.index, { awaiting: null, conversationId: event.conversationId });
}

export function startRefused(turn: RunTurn, event: EventOf<'startRefused'>): void {
  const item = awaitingItem(turn, event);
  if (item?.phase === 'starting')
    endAttempt(turn, event.index, endingOf({ seen: 'start_refused', reason: event.reason }));
}

const DELETED = endingOf({ seen: 'conversation_deleted' });

/** Newest wins; a notice of an earlier attempt only tells about its sandbox. */
export function noticed(turn: RunTurn, event: EventOf<'conversationNoticed'>): void {
  const { conversation } = event;
  if (conversation.itemIndex === null) return;
  if (turn.state.slice === undefined) noteSandbox(turn, conversation);
  const item = itemAt(turn.state, conversation.itemIndex);
  if (item === undefined || !isNews(item, conversation)) return;
  countArrival(turn, item, conversation);
  const known = changeItem(turn, conversation.itemIndex, {
    conversationId: conversation.conversationId,
    noticed: conversation.sequence,
    sandboxId: conversation.sandboxId,
    sandboxStatus: conversation.sandboxStatus,
    executionStatus: conversation.executionStatus,
    limitReached: conversation.limitReached,
    ...slotWait(item, conversation, turn.now),
    ...(item.phase === 'working' ? clocked(item, conversation, turn.now) : {}),
  });
  if (startsWaitingForRate(item, conversation)) slowDown(turn, 'rate_limited');
  offerPlaces(turn, item, conversation);
  // What it means for the item is its shard's to say.
  if (known !== null && !isSharded(turn.state)) readNotice(turn, conversation.itemIndex, known, conversation);
}

/** The first notice may overtake the answer that names the conversation: then it names it itself. */
function isNews(item: RunItem, conversation: ConversationSnapshot): boolean {
  if (item.conversationId === null)
    return item.phase === 'starting' && !item.past.includes(conversation.conversationId);
  return item.conversationId === conversation.conversationId && conversation.sequence > item.noticed;
}

function readNotice(turn: RunTurn, index: number, item: RunItem, conversation: ConversationSnapshot): void {
  if (item.phase === 'starting') readStart(turn, index, item, conversation);
  const now = itemAt(turn.state, index);
  if (now?.phase === 'working') readWork(turn, index, now, conversation);
}

function readStart(turn: RunTurn, index: number, item: RunItem, conversation: ConversationSnapshot): void {
  if (conversation.startTask === 'READY') {
    const clock = clocked({ ...item, workedMs: 0, workingSince: null }, conversation, turn.now);
    changeItem(turn, index, { phase: 'working', awaiting: null, ...clock });
    // Told to stop while it came up: only now is there somebody who hears it.
    if (item.ending !== null) stopItem(turn, index, item.ending);
  } else if (conversation.deleted) endAttempt(turn, index, item.ending ?? DELETED);
  if (conversation.startTask !== 'ERROR') return;
  endAttempt(turn, index, item.ending ?? endingOf({ seen: 'start_failed', detail: conversation.detail }));
}

function readWork(turn: RunTurn, index: number, item: RunItem, conversation: ConversationSnapshot): void {
  if (conversation.deleted) return collect(turn, index, item.ending ?? DELETED);
  const { sandboxStatus: status, detail } = conversation;
  if (status === 'ERROR' || status === 'MISSING')
    return collect(turn, index, item.ending ?? endingOf({ seen: 'sandbox_lost', status, detail }));
  // It had been READY: its engine has lost it, and nobody leads it any more.
  if (conversation.startTask === 'ERROR')
    return collect(turn, index, item.ending ?? endingOf({ seen: 'start_failed', detail }));
  if (!conversation.settled) return;
  if (item.ending !== null) return collect(turn, index, item.ending);
  if (conversation.interrupted && conversation.limitReached === null)
    return continueAttempt(turn, index, item, conversation);
  const ending = endingOfRest(turn, item, conversation);
  if (ending === null) return;
  if (ending.outcome === 'succeeded' && item.hasVerify) return verify(turn, index, ending);
  collect(turn, index, ending);
}

/**
 * Work that was cut off goes on in the same attempt (D15): at once after a release by a rule, and after a user's pause
 * when its user has brought the sandbox back.
 */
function continueAttempt(
  turn: RunTurn,
  index: number,
  item: RunItem,
  conversation: ConversationSnapshot,
): void {
  if (conversation.pauseReason === 'user') return;
  if (
    conversation.pauseReason === 'session_limit' &&
    waitOf(item.own, turn.state.rules).onSessionLimit === 'stop'
  ) {
    return collect(turn, index, endingOf({ seen: 'limit_reached', limit: 'session_limit' }));
  }
  if (item.continued >= CONTINUATIONS_MAX)
    return collect(turn, index, endingOf({ seen: 'cut_off_too_often' }));
  const changed = changeItem(turn, index, { continued: item.continued + 1 });
  if (changed !== null)
    tellConversation(turn, changed, { type: 'continueRequested', requestId: newRequestId(turn) });
}

/** What a resting agent means for its item; null while the job waits for something else (D28). */
function endingOfRest({ state }: RunTurn, item: RunItem, conversation: ConversationSnapshot): Ending | null {
  const { limitReached: limit, executionStatus: status, detail } = conversation;
  if (limit !== null) return endingOf({ seen: 'limit_reached', limit });
  if (status === null || !waitOf(item.own, state.rules).until.includes(status)) return null;
  return endingOf({ seen: 'agent_rests', status, detail });
}

/** Whether the work is good is the job's own check; the agent's status is not rewritten by it (D28). */
function verify(turn: RunTurn, index: number, ending: Ending): void {
  const item = changeItem(turn, index, { phase: 'verifying', ending });
  if (item === null || item.conversationId === null || item.sandboxId === null) return;
  const { conversationId, sandboxId } = item;
  const awaiting = turn.order({
    ...itemOrder(turn, index, item),
    type: 'verifyItem',
    conversationId,
    sandboxId,
  });
  changeItem(turn, index, { awaiting });
}

export function verified(turn: RunTurn, event: EventOf<'itemVerified'>): void {
  const item = awaitingItem(turn, event);
  if (item?.phase !== 'verifying' || item.ending === null) return;
  const outcome = event.passed ? item.ending.outcome : 'check_failed';
  collect(turn, event.index, { ...item.ending, outcome, detail: event.detail });
}

/** A check that could not be run is no verdict on the work: the attempt failed, and its class may try again. */
export function verifyUnsuccessful(turn: RunTurn, event: EventOf<'verifyFailed'>): void {
  const item = awaitingItem(turn, event);
  if (item?.phase === 'verifying')
    collect(turn, event.index, endingOf({ seen: 'verify_failed', reason: event.reason }));
}

/** Collection always comes before anything is cleaned up. */
function collect(turn: RunTurn, index: number, ending: Ending): void {
  const item = changeItem(turn, index, { phase: 'collecting', ending, stopBy: null, awaiting: null });
  if (item === null || item.conversationId === null) return endAttempt(turn, index, ending);
  const awaiting = turn.order({
    ...itemOrder(turn, index, item),
    type: 'collectItem',
    conversationId: item.conversationId,
    sandboxId: item.sandboxId,
    workspaceReadable: item.sandboxStatus === 'RUNNING' || item.sandboxStatus === 'PAUSED',
  });
  changeItem(turn, index, { awaiting });
}

export function collected(turn: RunTurn, event: EventOf<'itemCollected'>): void {
  const item = awaitingItem(turn, event);
  if (item?.phase !== 'collecting' || item.ending === null) return;
  enterCost(turn, item, event);
  const { withheld } = event;
  const { detail } = item.ending;
  const told = withheld === undefined ? detail : detail === null ? withheld : `${detail}; ${withheld}`;
  endAttempt(turn, event.index, { ...item.ending, detail: told });
}

/** What an attempt cost counts whatever becomes of its collection (D30). */
function enterCost(
  turn: RunTurn,
  { costNanoUsd: before }: Pick<RunItem, 'costNanoUsd'>,
  { index, costNanoUsd }: { readonly index: number; readonly costNanoUsd: number },
): void {
  turn.state.spentNanoUsd += costNanoUsd;
  tellSoftLimit(turn);
  changeItem(turn, index, { costNanoUsd: before + costNanoUsd });
}

/** A success whose results could not be kept is none. */
export function collectUnsuccessful(turn: RunTurn, event: EventOf<'collectFailed'>): void {
  const item = awaitingItem(turn, event);
  if (item?.phase !== 'collecting' || item.ending === null) return;
  const { index, costNanoUsd } = event;
  if (costNanoUsd !== undefined) enterCost(turn, item, { index, costNanoUsd });
  keepUncollected(turn, item.sandboxId);
  const wasGood = item.ending.outcome === 'succeeded';
  const ending = wasGood ? endingOf({ seen: 'collect_failed', reason: event.reason }) : item.ending;
  endAttempt(turn, event.index, ending);
}

/** The attempt is over: tried again by its class's rule, or the item has ended. */
export function endAttempt(turn: RunTurn, index: number, ending: Ending): void {
  const { state } = turn;
  const item = itemAt(state, index);
  if (item === undefined) return;
  const base = { awaiting: null, waitsFor: undefined, ending, stopBy: null } satisfies Partial<RunItem>;
  const { failureClass } = ending;
  attemptEnded(turn, failureClass);
  placeGivenBack(turn);
  probeEnded(turn, item, ending);
  if (failureClass === null || state.mode === 'cancelling' || ending.outcome === 'cancelled') {
    changeItem(turn, index, { ...base, phase: 'ended', endedAt: turn.now });
    return;
  }
  const failures = { ...item.failures, [failureClass]: (item.failures[failureClass] ?? 0) + 1 };
  const again = retryAt({ ...item, failures }, failureClass, state, turn.now);
  countForBreaker(turn, failureClass);
  const next: Partial<RunItem> =
    again === null ? { phase: 'ended', endedAt: turn.now } : { phase: 'waiting', notBefore: again };
  changeItem(turn, index, { ...base, ...next, failures });
}

/** Tells the agent to stop, or the item's shard, and remembers how the attempt will end once it does. */
export function stopItem(turn: RunTurn, index: number, ending: Ending): void {
  const item = changeItem(turn, index, { ending, stopBy: turn.now + STOP_WAIT_MS });
  if (item !== null && !isSharded(turn.state))
    tellConversation(turn, item, { type: 'interruptRequested', requestId: newRequestId(turn) });
}

/** The next instant at which this item needs a look; null when it needs none. */
function itemDeadline(item: RunItem, rules: RunState['rules']): number | null {
  if (item.phase === 'waiting') return item.notBefore;
  if (item.phase !== 'starting' && item.phase !== 'working') return null;
  if (item.stopBy !== null) return item.stopBy;
  if (item.waitsFor !== undefined) return null;
  const wall = attemptEndsBy(item, waitOf(item.own, rules).deadlineMs);
  const working = workingLimitAt(item);
  if (wall === null || working === null) return wall ?? working;
  return Math.min(wall, working);
}

/** The earliest instant at which one of those in flight needs a look. */
export function itemsDeadline(state: RunState): number | null {
  let first: number | null = null;
  for (const position of itemsByPhase(state).inFlight) {
    const item = state.items[position];
    const at = item === undefined ? null : itemDeadline(item, state.rules);
    if (at !== null && (first === null || at < first)) first = at;
  }
  return first;
}

export function itemsExpired(turn: RunTurn): void {
  const { state } = turn;
  for (const position of itemsByPhase(state).inFlight) itemExpired(turn, indexAt(state, position));
}

/** A deadline of the job ends as a timeout, a limit of the item as an outcome (D28). */
function itemExpired(turn: RunTurn, index: number): void {
  const item = itemAt(turn.state, index);
  if (item === undefined || item.phase === 'waiting') return;
  const due = itemDeadline(item, turn.state.rules);
  if (due === null || turn.now < due) return;
  if (item.stopBy !== null)
    return collect(turn, index, item.ending ?? endingOf({ seen: 'agent_did_not_stop' }));
  const limitAt = workingLimitAt(item);
  const isOverWorking = limitAt !== null && turn.now >= limitAt;
  stopItem(
    turn,
    index,
    endingOf(isOverWorking ? { seen: 'limit_reached', limit: 'working' } : { seen: 'deadline_passed' }),
  );
}
