/**
 * How a shard follows the directives of its run, and when a notice is of interest to it.
 * Owns nothing of an item's life, which is in core/run/items/items.ts; must not admit or retry anything by itself.
 */
import { begin } from '../run/admission/admission.ts';
import { initItem } from '../run/init.ts';
import { startsWaitingForRate } from '../run/items/item-waits.ts';
import { noticed, stopItem } from '../run/items/items.ts';
import { itemsByPhase, allItemsByPhase } from '../run/items-by-phase.ts';
import { isInFlight, itemAt, type RunItem, type RunState } from '../run/state.ts';
import { changeItem, type RunContext } from '../run/run-context.ts';
import type { ConversationSnapshot } from '../machine/snapshot.ts';
import type { ShardDirective, ShardEvent } from './message.ts';

type EventOf<Type extends ShardEvent['type']> = Extract<ShardEvent, { readonly type: Type }>;

/** The items that it has not, from the longer of two lists: which of them came first does not matter. */
export function grown(context: RunContext, { spec }: EventOf<'shardStarted'>): void {
  const { state } = context;
  const added = spec.items.slice(state.items.length);
  if (added.length > 0) {
    state.items = [...state.items, ...added.map(initItem)];
    state.byPhase = allItemsByPhase(state.items);
  }
  reportReady(context);
}

/** Until then its run sends it nothing: a directive to a shard that is not there would be lost. */
export function reportReady(context: RunContext): void {
  const { runId, items, slice } = context.state;
  const event = { type: 'shardReady', number: slice?.number ?? 0, items: items.length } as const;
  context.order({ type: 'send', to: { machine: 'run', id: runId }, event });
}

/** With its run; what is sent of an earlier end comes too late for one that is at work again. */
export function closed(context: RunContext, { mayOpenAgain }: EventOf<'shardClosed'>): void {
  const { state } = context;
  if (hasClosedForGood(state) || itemsByPhase(state).inFlight.length > 0) return;
  state.phase = 'finished';
  if (mayOpenAgain !== true) state.endedAt = context.now;
}

/** No directive will come any more. */
export function hasClosedForGood({ phase, endedAt }: RunState): boolean {
  return phase === 'finished' && endedAt !== null;
}

/** Of one that has closed, as of any other; it is at work again once an item of it begins. */
export function onDirectivesAgain(context: RunContext, event: EventOf<'itemsDirected'>): void {
  onDirectives(context, event);
  if (itemsByPhase(context.state).inFlight.length > 0) context.state.phase = 'running';
}

export function onDirectives(context: RunContext, { directives }: EventOf<'itemsDirected'>): void {
  for (const directive of directives) follow(context, directive);
}

/** Newest wins: an older directive that comes late changes nothing. */
function follow(context: RunContext, directive: ShardDirective): void {
  const { index, revision, failures, attempt } = directive;
  const item = itemAt(context.state, index);
  if (item === undefined || revision <= (item.revision ?? 0)) return;
  changeItem(context, index, { revision });
  if (directive.phase !== 'starting') return settle(context, item, directive);
  if (attempt > item.attempt) {
    changeItem(context, index, { failures, ...directive.spec });
    begin(context, index);
  }
  if (directive.isStopped) stop(context, directive);
}

/** The run takes an item up again or ends it only while it is not in flight. */
function settle(context: RunContext, item: RunItem, directive: ShardDirective): void {
  if (isInFlight(item)) return;
  const { index, phase, ending, failures, notBefore, endedAt } = directive;
  changeItem(context, index, { phase, ending, failures, notBefore, endedAt });
}

function stop(context: RunContext, { index, ending, attempt }: ShardDirective): void {
  const item = itemAt(context.state, index);
  if (item?.attempt !== attempt || item.stopBy !== null || ending === null) return;
  if (item.phase === 'starting' || item.phase === 'working') stopItem(context, index, ending);
}

/** The run hears what concerns more than the item: which sandbox it uses, that it is gone, that its endpoint is slow. */
export function conversationNoticed(context: RunContext, event: EventOf<'conversationNoticed'>): void {
  const { conversation } = event;
  const was = itemAt(context.state, conversation.itemIndex ?? -1);
  noticed(context, event);
  if (was !== undefined && concernsRun(was, conversation))
    context.order({ type: 'send', to: { machine: 'run', id: context.state.runId }, event });
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
