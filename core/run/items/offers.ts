/**
 * Room in the sandboxes that a run shares, offered to its conversations that wait for a slot (D29).
 * Owns when it is offered; who is placed where is decided in one transaction, and slots that are free are offered by the
 * sandboxes that had them.
 */
import type { ConversationSnapshot } from '../../machine/snapshot.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import type { RunItem, RunState } from '../state.ts';
import { sendToConversation, type RunContext } from '../run-context.ts';

/** Sent at once where the request does not say how many a sandbox takes. */
const OFFERS_DEFAULT = 20;

/** A sandbox is up, which others may be placed in; or one begins to wait, and may have overlooked one that is up. */
export function offerPlaces(context: RunContext, was: RunItem, conversation: ConversationSnapshot): void {
  const { state } = context;
  if (!state.rules.sharesSandboxes || state.slice !== undefined) return;
  const isUp = conversation.sandboxStatus === 'RUNNING' && was.sandboxStatus !== 'RUNNING';
  if (isUp) return offerToWaiting(context, state.rules.capacity?.perSandboxMax ?? OFFERS_DEFAULT);
  const begins = conversation.waitsFor !== undefined && was.waitsFor === undefined;
  const to = { machine: 'conversation', id: conversation.conversationId } as const;
  if (begins && hasOneUp(state)) context.order({ type: 'send', to, event: { type: 'roomOffered' } });
}

/** An attempt is over: in a pool that is one place more, without any slot. */
export function placeGivenBack(context: RunContext): void {
  const { rules, slice } = context.state;
  if (rules.pool !== undefined && slice === undefined) offerToWaiting(context, 1);
}

function hasOneUp({ items, byPhase }: RunState): boolean {
  return itemsByPhase({ items, byPhase }).inFlight.some((index) => items[index]?.sandboxStatus === 'RUNNING');
}

/** In the order of their admission, so far as they are still known to wait. */
function offerToWaiting(context: RunContext, max: number): void {
  for (const item of waitingForSlot(context.state).slice(0, max))
    sendToConversation(context, item, { type: 'roomOffered' });
}

export function waitingForSlot({ items, byPhase }: Pick<RunState, 'items' | 'byPhase'>): readonly RunItem[] {
  return itemsByPhase({ items, byPhase })
    .inFlight.flatMap((index) => items[index] ?? [])
    .filter(({ waitsFor }) => waitsFor !== undefined);
}
