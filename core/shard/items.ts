/**
 * How a shard follows the wishes of its run, and when a notice is of interest to it.
 * Owns nothing of an item's life, which is in core/run/items/items.ts; must not admit or retry anything by itself.
 */
import { begin } from '../run/admission/admission.ts';
import { initItem } from '../run/init.ts';
import { startsWaitingForRate } from '../run/items/item-waits.ts';
import { noticed, stopItem } from '../run/items/items.ts';
import { itemsByPhase, allItemsByPhase } from '../run/items-by-phase.ts';
import { isInFlight, itemAt, type RunItem, type RunState } from '../run/state.ts';
import { changeItem, type RunTurn } from '../run/turn.ts';
import type { ConversationSnapshot } from '../machine/snapshot.ts';
import type { ShardDirective, ShardEvent } from './message.ts';

type EventOf<Type extends ShardEvent['type']> = Extract<ShardEvent, { readonly type: Type }>;

/** The items that it has not, from the longer of two lists: which of them was told first does not matter. */
export function grown(turn: RunTurn, { spec }: EventOf<'shardStarted'>): void {
  const { state } = turn;
  const added = spec.items.slice(state.items.length);
  if (added.length > 0) {
    state.items = [...state.items, ...added.map(initItem)];
    state.byPhase = allItemsByPhase(state.items);
  }
  tellReady(turn);
}

/** Until then its run tells it nothing: a wish must not find nobody. */
export function tellReady(turn: RunTurn): void {
  const { runId, items, slice } = turn.state;
  const event = { type: 'shardReady', number: slice?.number ?? 0, items: items.length } as const;
  turn.order({ type: 'send', to: { machine: 'run', id: runId }, event });
}

/** With its run; what is told of an earlier end comes too late for one that is at work again. */
export function closed(turn: RunTurn, { mayOpenAgain }: EventOf<'shardClosed'>): void {
  const { state } = turn;
  if (hasClosedForGood(state) || itemsByPhase(state).inFlight.length > 0) return;
  state.phase = 'finished';
  if (mayOpenAgain !== true) state.endedAt = turn.now;
}

/** Nothing will be wished of it any more. */
export function hasClosedForGood({ phase, endedAt }: RunState): boolean {
  return phase === 'finished' && endedAt !== null;
}

/** Of one that has closed, as of any other; it is at work again once an item of it begins. */
export function onDirectivesAgain(turn: RunTurn, event: EventOf<'itemsDirected'>): void {
  onDirectives(turn, event);
  if (itemsByPhase(turn.state).inFlight.length > 0) turn.state.phase = 'running';
}

export function onDirectives(turn: RunTurn, { directives }: EventOf<'itemsDirected'>): void {
  for (const directive of directives) follow(turn, directive);
}

/** Newest wins: an older wish that comes late is none any more. */
function follow(turn: RunTurn, directive: ShardDirective): void {
  const { index, revision, failures, attempt } = directive;
  const item = itemAt(turn.state, index);
  if (item === undefined || revision <= (item.revision ?? 0)) return;
  changeItem(turn, index, { revision });
  if (directive.phase !== 'starting') return settle(turn, item, directive);
  if (attempt > item.attempt) {
    changeItem(turn, index, { failures, ...directive.spec });
    begin(turn, index);
  }
  if (directive.isStopped) stop(turn, directive);
}

/** The run takes an item up again or ends it only while it is not in flight. */
function settle(turn: RunTurn, item: RunItem, directive: ShardDirective): void {
  if (isInFlight(item)) return;
  const { index, phase, ending, failures, notBefore, endedAt } = directive;
  changeItem(turn, index, { phase, ending, failures, notBefore, endedAt });
}

function stop(turn: RunTurn, { index, ending, attempt }: ShardDirective): void {
  const item = itemAt(turn.state, index);
  if (item?.attempt !== attempt || item.stopBy !== null || ending === null) return;
  if (item.phase === 'starting' || item.phase === 'working') stopItem(turn, index, ending);
}

/** The run hears what concerns more than the item: which sandbox it uses, that it is gone, that its endpoint is slow. */
export function conversationNoticed(turn: RunTurn, event: EventOf<'conversationNoticed'>): void {
  const { conversation } = event;
  const was = itemAt(turn.state, conversation.itemIndex ?? -1);
  noticed(turn, event);
  if (was !== undefined && concernsRun(was, conversation))
    turn.order({ type: 'send', to: { machine: 'run', id: turn.state.runId }, event });
}

function concernsRun(was: RunItem, conversation: ConversationSnapshot): boolean {
  if (startsWaitingForRate(was, conversation) || was.waitsFor !== conversation.waitsFor) return true;
  if (conversation.sandboxId === null || conversation.sandboxStatus === null) return false;
  // Of an earlier attempt there is little more to come.
  if (was.conversationId !== conversation.conversationId) return true;
  if (was.sandboxId !== conversation.sandboxId || was.sandboxStatus === null) return true;
  return (
    conversation.deleted || (conversation.sandboxStatus === 'MISSING' && was.sandboxStatus !== 'MISSING')
  );
}
