/**
 * What becomes of the sandboxes that a run used.
 * Owns the rule "collected first, and no conversation uses it any more"; must not remove what belongs to a user.
 */
import type { ConversationId, SandboxId } from '../ids.ts';
import type { ConversationSnapshot } from '../machine/snapshot.ts';
import type { RunEvent } from './message.ts';
import { hasHadEnough, unusedOfPool } from './admission/pool.ts';
import { waitingForSlot } from './items/offers.ts';
import { itemsByPhase } from './items-by-phase.ts';
import type { RunState } from './state.ts';
import { changeSandbox, newRequestId, type RunContext } from './run-context.ts';
import type { UsedSandbox } from './items/used-sandbox.ts';

/** What a notice shows of the sandbox of a conversation; the id is null where the attempt had no conversation. */
type SandboxUse = Pick<ConversationSnapshot, 'sandboxId' | 'sandboxStatus' | 'deleted'> & {
  readonly conversationId: ConversationId | null;
};

/** Remembers a sandbox when it is first seen, and that it is gone when its conversations report so. */
export function noteSandbox(context: RunContext, conversation: SandboxUse): void {
  const { state } = context;
  const { sandboxId, sandboxStatus } = conversation;
  // Before its first notice a sandbox may not exist yet: it could answer no request.
  if (sandboxId === null || sandboxStatus === null) return;
  // From the end: most notices are about new sandboxes.
  const known = state.sandboxes.findLast((used) => used.sandboxId === sandboxId);
  if (known === undefined) {
    const mine = sandboxId !== state.rules.explicitSandboxId && state.rules.cleanup.sandbox !== 'keep';
    state.sandboxes = [...state.sandboxes, { sandboxId, state: mine ? 'used' : 'kept', awaiting: null }];
  }
  // A new notice of a conversation in it: the agent may be at rest now.
  if (known?.isBusy === true) changeSandbox(context, sandboxId, { isBusy: undefined });
  if (sandboxStatus === 'MISSING' && known?.state !== 'gone') setSandbox(context, sandboxId, 'gone');
  // A deleted conversation sends no more notices; its removal has decided about a sandbox with no other user (D11).
  else if (conversation.deleted && isOnlyUse(state, conversation)) setSandbox(context, sandboxId, 'kept');
}

function isOnlyUse(state: RunState, { conversationId, sandboxId }: SandboxUse): boolean {
  return !state.items.some((item) => item.sandboxId === sandboxId && item.conversationId !== conversationId);
}

/** What could not be collected is not deleted, even if its item is tried again elsewhere. */
export function keepUncollected(context: RunContext, sandboxId: SandboxId | null): void {
  const { state } = context;
  if (sandboxId === null || state.rules.cleanup.onCollectFailure !== 'keep') return;
  if (state.sandboxes.some((used) => used.sandboxId === sandboxId))
    return setSandbox(context, sandboxId, 'kept');
  // Its first notice is still to come, and must not find it new.
  state.sandboxes = [...state.sandboxes, { sandboxId, state: 'kept', awaiting: null }];
}

function setSandbox(
  context: RunContext,
  sandboxId: SandboxId,
  next: UsedSandbox['state'],
  awaiting: string | null = null,
): void {
  changeSandbox(context, sandboxId, { state: next, awaiting });
}

/** Releases every sandbox that nothing of this run needs any more. */
export function releaseSandboxes(context: RunContext): void {
  const { state } = context;
  releaseRecycled(context);
  releaseForSlots(context);
  // While anything may still be placed, a shared sandbox may still be wanted.
  if (state.rules.sharesSandboxes && state.mode === 'normal' && mayStillPlace(state)) return;
  if (!state.sandboxes.some(({ state: use }) => use === 'used')) return;
  const needed = neededSandboxes(state);
  for (const { sandboxId, state: use, pooled } of state.sandboxes) {
    // The last answer was that it is in use: a new request would get the same answer, again and again.
    const isHeld = pooled?.isInUse === true && state.phase === 'running';
    if (use === 'used' && !isHeld && needed !== 'all' && !needed.has(sandboxId)) letGo(context, sandboxId);
  }
}

/**
 * What is full, or whose slot is needed, is released while others are placed (D29): one that waits for a slot found no
 * room in any of them. One for each that waits, the fullest first; of those that are kept only the slot is given back.
 */
function releaseForSlots(context: RunContext): void {
  const { state } = context;
  const { rules } = state;
  if (state.phase !== 'running' || rules.explicitSandboxId !== null || rules.pool !== undefined) return;
  // What is not shared is released as soon as its item has ended, whether or not others wait.
  if (!rules.sharesSandboxes && rules.cleanup.sandbox !== 'keep') return;
  const waiting = waitingForSlot(state).length;
  if (waiting === 0) return;
  const busy = sandboxesInFlight(state);
  const isFree = (used: UsedSandbox): boolean =>
    !busy.has(used.sandboxId) && used.isBusy !== true && used.isResting !== true && isThere(used);
  const onTheirWay = state.sandboxes.filter(({ state: use }) => use === 'asked').length;
  const free = state.sandboxes.filter(isFree);
  if (free.length === 0) return;
  const placed = placedBySandbox(state);
  const byUse = free.toSorted((a, b) => (placed.get(b.sandboxId) ?? 0) - (placed.get(a.sandboxId) ?? 0));
  for (const { sandboxId, state: use } of byUse.slice(0, Math.max(0, waiting - onTheirWay)))
    if (use === 'kept') rest(context, sandboxId);
    else letGo(context, sandboxId, { whileRunning: true });
}

const isThere = ({ state }: UsedSandbox): boolean => state === 'used' || state === 'kept';

function sandboxesInFlight(state: RunState): ReadonlySet<SandboxId> {
  const ids = itemsByPhase(state).inFlight.flatMap((index) => state.items[index]?.sandboxId ?? []);
  return new Set(ids);
}

function placedBySandbox({ items }: RunState): ReadonlyMap<SandboxId, number> {
  const counts = new Map<SandboxId, number>();
  for (const { sandboxId } of items)
    if (sandboxId !== null) counts.set(sandboxId, (counts.get(sandboxId) ?? 0) + 1);
  return counts;
}

/** Its files stay, its slot does not. */
function rest(context: RunContext, sandboxId: SandboxId): void {
  const { state } = context;
  if (mustStay(state, sandboxId)) return;
  const { runId } = state;
  context.order({ type: 'cleanUpSandbox', runId, sandboxId, how: 'pause', whileRunning: true });
  changeSandbox(context, sandboxId, { isResting: true });
}

/** No conversation is placed there any more: those in it decide alone, and the next of the pool needs its slot. */
function releaseRecycled(context: RunContext): void {
  const { state, now } = context;
  if (state.phase !== 'running') return;
  for (const used of unusedOfPool(state)) if (hasHadEnough(state, used, now)) letGo(context, used.sandboxId);
}

function mayStillPlace(state: RunState): boolean {
  const { waiting, inFlight } = itemsByPhase(state);
  return waiting.length > 0 || inFlight.some((index) => state.items[index]?.phase === 'starting');
}

/** One pass over the items in flight, however many sandboxes there are. */
function neededSandboxes(state: RunState): ReadonlySet<SandboxId> | 'all' {
  const needed = new Set<SandboxId>();
  for (const index of itemsByPhase(state).inFlight) {
    const sandboxId = state.items[index]?.sandboxId ?? null;
    if (sandboxId !== null) needed.add(sandboxId);
    // An item whose place is not known yet may be put into any sandbox that is shared.
    else if (state.rules.sharesSandboxes) return 'all';
  }
  return needed;
}

/** Whether it has a conversation of other origin, too, is decided where attachments are kept, in one transaction. */
function letGo(
  context: RunContext,
  sandboxId: SandboxId,
  options: { readonly whileRunning?: true } = {},
): void {
  const { state } = context;
  if (mustStay(state, sandboxId)) return setSandbox(context, sandboxId, 'kept');
  const how = state.rules.cleanup.sandbox === 'pause' ? 'pause' : 'delete';
  const commandId = context.order({ type: 'cleanUpSandbox', runId: state.runId, sandboxId, how, ...options });
  // A pause is requested and not waited for: a sandbox that is released already sends no notice of it.
  setSandbox(context, sandboxId, how === 'pause' ? 'kept' : 'asked', commandId);
}

/** A sandbox that others use as well is left to them. */
export function cleanedUp(
  context: RunContext,
  event: Extract<RunEvent, { readonly type: 'sandboxCleanedUp' }>,
): void {
  const { state } = context;
  const used = state.sandboxes.find(({ awaiting }) => awaiting === event.commandId);
  if (used === undefined) return;
  if (event.isBusy === true && state.phase === 'running')
    return changeSandbox(context, used.sandboxId, { state: 'used', awaiting: null, isBusy: true });
  if (!event.isOurs && used.pooled !== undefined && state.phase === 'running')
    return stillInUse(context, used);
  // No conversation was ever in it, so no notice reports its end: the answer to the order is all there is.
  if (event.isOurs && used.state === 'asked' && used.pooled?.placed === 0)
    return setSandbox(context, used.sandboxId, 'gone');
  setSandbox(context, used.sandboxId, event.isOurs || used.state !== 'asked' ? used.state : 'kept');
}

/** A conversation of this run came without a notice so far: checked again after its notice, or at the end. */
function stillInUse(context: RunContext, { sandboxId, pooled }: UsedSandbox): void {
  if (pooled === undefined) return;
  changeSandbox(context, sandboxId, { state: 'used', awaiting: null, pooled: { ...pooled, isInUse: true } });
}

/** A conversation that waits for an answer of its user is not cut off. */
function mustStay(state: RunState, sandboxId: SandboxId): boolean {
  if (itemsByPhase(state).ended.waiting === undefined) return false;
  return state.items.some((item) => item.sandboxId === sandboxId && item.ending?.outcome === 'waiting');
}

export function sandboxesSettled(state: RunState): boolean {
  if (state.warming !== undefined) return false;
  return state.sandboxes.every(({ state: use }) => use === 'gone' || use === 'kept');
}

/** After the sandboxes: the job may want its conversations deleted, too. */
export function removeConversations(context: RunContext): void {
  if (context.state.rules.cleanup.conversation !== 'delete') return;
  for (const item of context.state.items) {
    if (item.ending?.outcome === 'waiting') continue;
    for (const id of [...item.past, item.conversationId]) {
      if (id === null) continue;
      const event = { type: 'deleteRequested', requestId: newRequestId(context) } as const;
      context.order({ type: 'send', to: { machine: 'conversation', id }, event });
    }
  }
}
