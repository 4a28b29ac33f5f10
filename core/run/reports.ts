/**
 * What the shards of a run report to it: that they are there, and how an attempt has ended.
 * Owns how that is entered into the run's own books; the life of an item is in core/run/items/items.ts.
 */
import { keepUncollected, noteSandbox } from './cleanup.ts';
import { recordSoftLimit } from './admission/budget.ts';
import { endAttempt } from './items/attempt-end.ts';
import type { RunEvent } from './message.ts';
import { boundsOf, shardOf } from './shards.ts';
import { isInFlight } from './state.ts';
import { changeItem, type RunContext } from './run-context.ts';
import { sendDirectives, directiveOf } from './shard-directives.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/** From here on directives are sent to it; those that it missed come now. */
export function shardReady(context: RunContext, { number, items }: EventOf<'shardReady'>): void {
  const { shards } = context.state;
  const { from, to } = boundsOf(context.state, number);
  // It will say so again when it has those that were added meanwhile.
  if (items !== undefined && items !== to - from) return;
  if (shards?.[number] === false) context.state.shards = shards.with(number, true);
}

/** As if the item had lived here: what it cost, what becomes of its sandbox, whether it is tried again. */
export function attemptReported(context: RunContext, event: EventOf<'attemptEnded'>): void {
  const { state } = context;
  const { index, attempt, conversationId, sandboxId, sandboxStatus, costNanoUsd } = event;
  const item = state.items[index];
  if (state.shards === undefined || item?.attempt !== attempt || !isInFlight(item)) return;
  changeItem(context, index, { conversationId, sandboxId, sandboxStatus, costNanoUsd });
  noteSandbox(context, { conversationId, sandboxId, sandboxStatus, deleted: false });
  state.spentNanoUsd += costNanoUsd - item.costNanoUsd;
  recordSoftLimit(context);
  if (event.isUncollected) keepUncollected(context, sandboxId);
  endAttempt(context, index, event.ending);
  const ended = state.items[index];
  if (ended?.phase === 'waiting') changeItem(context, index, { notBefore: event.notBefore });
  // Its shard would wait for another try, and a run that is being cancelled gives none.
  else if (ended !== undefined && event.phase === 'waiting')
    sendDirectives(context, shardOf(state, index), [directiveOf(ended, index, state.sequence + 1)]);
}
