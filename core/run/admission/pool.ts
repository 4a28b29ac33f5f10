/**
 * The pool of a run: how many items it holds, its sandboxes made ahead, and those to be recycled.
 * Owns what the run itself counts of them; core/placement/place-in-pool.ts decides the places, in one transaction.
 */
import type { SandboxId } from '../../ids.ts';
import type { HostPin } from '../../placement/choose-host.ts';
import { isRecycled } from '../../placement/recycling.ts';
import type { ConversationSnapshot } from '../../machine/snapshot.ts';
import { earliest } from '../../time.ts';
import type { RunEvent } from '../message.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import type { RunItem, RunState } from '../state.ts';
import { changeSandbox, type RunContext } from '../run-context.ts';
import type { UsedSandbox } from '../items/used-sandbox.ts';

/** Code of the lifecycle event that says how many sandboxes were made ahead. */
export const POOL_WARMED = 'pool_warmed';

/** At its beginning a run orders its sandboxes all at once; its first items begin when that has been answered. */
export function warmPool(context: RunContext): void {
  const { state } = context;
  const { pool } = state.rules;
  if (pool === undefined || !pool.warm) return;
  const { runId, userId } = state;
  state.warming = context.order({ type: 'warmPool', runId, userId, size: pool.size, ...hostOfPool(state) });
}

/**
 * When items wait again after the sandboxes of the pool were released: no more than the items need, and none while the
 * run holds.
 */
export function warmPoolAgain(context: RunContext): void {
  const { state } = context;
  const { pool } = state.rules;
  if (pool === undefined || !pool.warm || state.warming !== undefined) return;
  if (state.mode !== 'normal' || state.phase !== 'running') return;
  const wanted = Math.ceil(itemsByPhase(state).waiting.length / pool.maxPerSandbox);
  const size = Math.min(pool.size, wanted);
  if (livingOfPool(state) >= size) return;
  const { runId, userId, commandCount: round } = state;
  state.warming = context.order({ type: 'warmPool', runId, userId, size, ...hostOfPool(state), round });
}

function hostOfPool({ rules: { poolHost: host } }: RunState): { readonly host?: HostPin } {
  return host === undefined ? {} : { host };
}

/** As far as the run knows: the store counts again. */
function livingOfPool({ sandboxes }: RunState): number {
  return sandboxes.filter(
    ({ state: use, pooled }) => pooled !== undefined && (use === 'used' || use === 'kept'),
  ).length;
}

/** However few there are: the others are made when they are needed. */
export function poolWarmed(
  context: RunContext,
  event: Extract<RunEvent, { readonly type: 'poolWarmed' }>,
): void {
  const { state, now } = context;
  if (state.warming !== event.commandId) return;
  state.warming = undefined;
  const mine = state.rules.cleanup.sandbox !== 'keep';
  const made = event.sandboxIds.map((sandboxId): UsedSandbox => {
    const pooled = { since: now, placed: 0, isInUse: false };
    return { sandboxId, state: mine ? 'used' : 'kept', awaiting: null, pooled };
  });
  state.sandboxes = [...state.sandboxes, ...made];
  const about = { machine: 'run', id: state.runId } as const;
  const size = state.rules.pool?.size ?? made.length;
  const why = event.reason === null ? '' : `: ${event.reason}`;
  const detail = `${made.length} of ${size} sandboxes${why}`;
  context.order({ type: 'record', event: { about, conversationId: null, code: POOL_WARMED, detail } });
}

/**
 * Items that may be in flight at once: free places in a recycled sandbox do not count. Null when the pool holds no
 * items back: what it cannot take goes elsewhere, or fails.
 */
export function poolPlaces(state: RunState, now: number): number | null {
  const { pool } = state.rules;
  if (pool?.onFull !== 'wait') return null;
  const places = pool.size * pool.maxPerSandbox;
  const recycled = state.sandboxes.filter((used) => used.state !== 'gone' && hasHadEnough(state, used, now));
  if (recycled.length === 0) return places;
  const inUse = inFlightBySandbox(state);
  const lost = recycled
    .map(({ sandboxId }) => inUse.get(sandboxId) ?? 0)
    .filter((count) => count > 0)
    .reduce((sum, count) => sum + Math.max(0, pool.maxPerSandbox - count), 0);
  return Math.max(1, places - lost);
}

function inFlightBySandbox(state: RunState): ReadonlyMap<SandboxId, number> {
  const counts = new Map<SandboxId, number>();
  for (const index of itemsByPhase(state).inFlight) {
    const id = state.items[index]?.sandboxId ?? null;
    if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** By what the run itself saw: the store may have more, and refuses a conversation that would be one too many. */
export function hasHadEnough(
  { rules: { pool } }: Pick<RunState, 'rules'>,
  { pooled }: UsedSandbox,
  now: number,
): boolean {
  if (pool === undefined || pooled === undefined) return false;
  return isRecycled({ createdAt: pooled.since }, { placedCount: pooled.placed }, pool, now);
}

/** Sandboxes of the pool that no item in flight is in. */
export function unusedOfPool(state: RunState): readonly UsedSandbox[] {
  if (state.rules.pool === undefined) return [];
  const free = state.sandboxes.filter(
    ({ state: use, pooled }) => use === 'used' && pooled?.isInUse === false,
  );
  if (free.length === 0) return free;
  const inUse = inFlightBySandbox(state);
  return free.filter(({ sandboxId }) => !inUse.has(sandboxId));
}

/** When an unused sandbox of the pool reaches the age at which it is deleted; null when none does. */
export function poolDeadline(state: RunState): number | null {
  const ageMs = state.rules.pool?.recycleAgeMs ?? null;
  if (ageMs === null) return null;
  return earliest(
    ...unusedOfPool(state).map(({ pooled }) => (pooled === undefined ? null : pooled.since + ageMs)),
  );
}

/** A conversation of the pool of which the run gets a notice in this sandbox for the first time. */
export function countArrival(context: RunContext, item: RunItem, conversation: ConversationSnapshot): void {
  const { state, now } = context;
  const { sandboxId, sandboxStatus } = conversation;
  if (state.rules.pool === undefined || sandboxId === null || sandboxStatus === null) return;
  // A sandbox it spilled over to, or that the job names, is not of the pool: it is released with the run.
  if (conversation.spilled === true || sandboxId === state.rules.explicitSandboxId) return;
  const isKnown = item.conversationId === conversation.conversationId && item.sandboxId === sandboxId;
  if (isKnown && item.sandboxStatus !== null) return;
  const used = state.sandboxes.findLast((one) => one.sandboxId === sandboxId);
  if (used === undefined) return;
  const { since, placed } = used.pooled ?? { since: now, placed: 0 };
  changeSandbox(context, sandboxId, { pooled: { since, placed: placed + 1, isInUse: false } });
}
