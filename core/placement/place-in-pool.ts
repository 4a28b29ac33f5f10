/**
 * Which sandbox of its run's pool a conversation gets, and whether the pool may grow for it.
 * Pure; owns size, places, affinity and recycling. Must not know what a job writes, nor choose outside the pool.
 */
import type { RunId } from '../ids.ts';
import { SESSION_LEFT_FOR_PLACEMENT_MS } from '../limits.ts';
import {
  byCreation,
  isElsewhere,
  place,
  PREFERENCE,
  type Disqualification,
  type Order,
  type Placement,
  type PlacementCandidate,
  type PlacementDecision,
  type PlacementQuestion,
  type PlacementRefusal,
  type PooledSandbox,
} from './place.ts';
import { isRecycled, type RecyclingRules } from './recycling.ts';
import type { SandboxStatus } from '../status.ts';
import { sessionEndOf } from '../sandbox/session.ts';

/** The pool's rules in the job, as far as one placement must know them. */
export interface PoolRules extends RecyclingRules {
  /** Sandboxes at most, at least 1; one that is recycled and empty does not count. */
  readonly size: number;
  /** Conversations in one of them at once, at least 1; the deployment's limit counts when it is lower. */
  readonly maxPerSandbox: number;
  readonly onFull: 'wait' | 'spill' | 'fail';
}

/** Sandboxes of one run: only its conversations are placed there, and they are placed nowhere else unless it spills. */
export interface PlanPool extends PoolRules {
  /** They boot when the run begins; otherwise each with the first conversation that needs it. */
  readonly warm: boolean;
}

/** A conversation that is placed in the pool of its run. */
export interface PoolPlacement extends PoolRules {
  /** The run whose pool it is. */
  readonly poolId: RunId;
  /** The item that the conversation works on. */
  readonly key: string;
  /** Conversations with the same value share a sandbox while there is room; null: shares with any. */
  readonly affinity: string | null;
}

interface Member {
  readonly candidate: PlacementCandidate;
  readonly pooled: PooledSandbox;
  readonly why: Disqualification | 'available';
}

/** As `place` chooses; in the pool where the job has one. An explicit choice overrides both. */
export function placeWithPool(question: PlacementQuestion, pool: PoolPlacement | undefined): Placement {
  if (question.explicit !== null || pool === undefined) return place(question);
  const { choice, inPool } = placeInPool(question, pool);
  return choice ?? spill(question, inPool);
}

/** Outside the pool, by the rules of the strategy; the decision still lists what was seen of the pool. */
function spill(question: PlacementQuestion, inPool: PlacementDecision): Placement {
  const placement = place(question);
  if (placement.kind === 'refused' || inPool.pool === undefined) return placement;
  const own = new Set(inPool.seen.map(({ sandboxId }) => sandboxId));
  const outside = placement.decision.seen.filter(({ sandboxId }) => !own.has(sandboxId));
  const seen = [...inPool.seen, ...outside];
  return {
    ...placement,
    decision: { ...placement.decision, seen, pool: { ...inPool.pool, spilled: true } },
  };
}

/** `choice` null: the pool is full, and the job wants another sandbox. */
function placeInPool(
  question: PlacementQuestion,
  pool: PoolPlacement,
): { readonly choice: Placement | null; readonly inPool: PlacementDecision } {
  const members = membersOf(question, pool);
  const living = members.filter((member) => isLiving(member, question, pool)).length;
  const mayGrow = living < pool.size;
  const available = members
    .filter(({ why }) => why === 'available')
    .sort((a, b) => byFit(pool, question)(a, b));
  const best = available[0];
  const waits = best !== undefined && mayGrow && fitOf(best.pooled, pool) === 'other';
  const chosen = best === undefined || waits ? null : best.candidate.sandboxId;
  const inPool: PlacementDecision = {
    rule: question.strategy,
    chosen,
    seen: members.map(({ candidate: { sandboxId }, why }) => ({
      sandboxId,
      why: waits && why === 'available' ? 'other_affinity' : why,
    })),
    pool: { poolId: pool.poolId, living, spilled: false },
  };
  if (chosen !== null) return { choice: { kind: 'existing', sandboxId: chosen, decision: inPool }, inPool };
  if (mayGrow) {
    const otherwise = best === undefined ? {} : { otherwise: best.candidate.sandboxId };
    return { choice: { kind: 'new', decision: inPool, ...otherwise }, inPool };
  }
  return { choice: pool.onFull === 'spill' ? null : fullRefusal(pool, living), inPool };
}

/** Refused for now only: its pool has a free place as soon as an item of its run ends. */
export function mayAskAgain({ code }: PlacementRefusal, pool: PoolRules | undefined): boolean {
  return code === 'pool_full' && pool?.onFull === 'wait';
}

function fullRefusal({ size, maxPerSandbox }: PoolPlacement, living: number): Placement {
  const places = `${living} of ${size} sandboxes with ${maxPerSandbox} ${maxPerSandbox === 1 ? 'place' : 'places'} each`;
  const reason = `Cannot place the conversation: the pool of its run is full, ${places}`;
  return { kind: 'refused', refusal: { code: 'pool_full', reason } };
}

function membersOf(question: PlacementQuestion, pool: PoolPlacement): readonly Member[] {
  const members: Member[] = [];
  for (const candidate of [...question.candidates].sort(byCreation)) {
    const { pool: pooled } = candidate;
    if (pooled === undefined || pooled.poolId !== pool.poolId) continue;
    members.push({ candidate, pooled, why: disqualify(candidate, pooled, question, pool) ?? 'available' });
  }
  return members;
}

/** One that boots or is released takes conversations as well: it is resumed for them, as one that is named explicitly. */
function disqualify(
  candidate: PlacementCandidate,
  pooled: PooledSandbox,
  question: PlacementQuestion,
  pool: PoolPlacement,
): Disqualification | null {
  if (candidate.userId !== question.userId) return 'other_user';
  if (question.excluded.includes(candidate.sandboxId)) return 'refused_before';
  if (candidate.status === 'ERROR' || candidate.status === 'MISSING') return 'runtime_not_up';
  if (isElsewhere(candidate, question)) return 'other_host';
  if (candidate.draining) return 'draining';
  if (isRecycled(candidate, pooled, pool, question.now)) return 'recycled';
  if (pooled.heldCount >= Math.min(pool.maxPerSandbox, question.conversationsPerSandboxMax)) return 'full';
  if (!candidate.available || candidate.sessionStartedAt === null) return null;
  const left = sessionEndOf(candidate.sessionStartedAt) - question.now;
  return left < SESSION_LEFT_FOR_PLACEMENT_MS ? 'session_ends_soon' : null;
}

/** Sandboxes of these count for the size of their pool, */
export const POOL_STATUSES: readonly SandboxStatus[] = ['STARTING', 'RUNNING', 'PAUSED'];

/** unless they are being removed: a broken one makes room for another, */
export function isLivingInPool({
  status,
  draining,
}: Pick<PlacementCandidate, 'status' | 'draining'>): boolean {
  return POOL_STATUSES.includes(status) && !draining;
}

/** and so does one that is recycled and empty. */
function isLiving({ candidate, pooled }: Member, { now }: PlacementQuestion, pool: PoolPlacement): boolean {
  if (!isLivingInPool(candidate)) return false;
  return pooled.heldCount > 0 || !isRecycled(candidate, pooled, pool, now);
}

/** How a sandbox fits the requested affinity: `free` has no affinity, or is empty. */
function fitOf({ affinity, heldCount }: PooledSandbox, pool: PoolPlacement): 'same' | 'free' | 'other' {
  if (affinity === pool.affinity) return 'same';
  if (pool.affinity === null || affinity === null || heldCount === 0) return 'free';
  return 'other';
}

const FITS = ['same', 'free', 'other'] as const;

/** Its own kind first, then those that are up, then the order of the strategy among them. */
function byFit(pool: PoolPlacement, { strategy }: PlacementQuestion): (a: Member, b: Member) => number {
  // With one place in each, every conversation has its own sandbox; among those, none has more than another.
  const prefer: Order = PREFERENCE[strategy === 'NO_GROUPING' ? 'FEWEST_CONVERSATIONS' : strategy];
  const rank = (member: Member): number =>
    (pool.affinity === null ? 0 : FITS.indexOf(fitOf(member.pooled, pool)) * 3) + readiness(member.candidate);
  return (a, b) => rank(a) - rank(b) || prefer(counted(a), counted(b));
}

/** A conversation whose item has ended is still attached, but is no load. */
function counted({ candidate, pooled }: Member): PlacementCandidate {
  return { ...candidate, attachedCount: pooled.heldCount };
}

function readiness({ available, status }: PlacementCandidate): number {
  if (available) return 0;
  return status === 'STARTING' ? 1 : 2;
}
