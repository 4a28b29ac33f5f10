/**
 * Pools of runs in memory: whose a sandbox is, and which conversations take a place in it.
 * Owns what a store keeps in columns of its own; the core decides which conversation is placed where.
 */
import type { ConversationId, RunId, SandboxId, UserId } from '../../core/ids.ts';
import type { PlacementCandidate, PooledSandbox } from '../../core/placement/place.ts';
import type { PoolPlacement } from '../../core/placement/place-in-pool.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { PoolFacts, PoolJoin } from '../world-facts.ts';

/** A sandbox of a pool, and how many take a place in it. */
export interface PoolMember {
  readonly sandboxId: SandboxId;
  readonly heldCount: number;
}

interface Member {
  readonly poolId: RunId;
  readonly userId: UserId;
  readonly joinedAt: number;
  readonly held: Set<ConversationId>;
  affinity: string | null;
  placedCount: number;
}

export class PoolModel implements PoolFacts {
  readonly joined: PoolJoin[] = [];
  private readonly members = new Map<SandboxId, Member>();
  private readonly homes = new Map<ConversationId, Member>();
  /** Conversations whose attempt is over: they take no place any more, and get none. */
  private readonly left = new Set<ConversationId>();

  /** With the row of an item: conversations of an earlier or ended attempt have given their place back. */
  note({ left = [] }: RunItemRow): void {
    for (const id of left) {
      this.left.add(id);
      this.giveBack(id);
    }
  }

  hasLeft(id: ConversationId): boolean {
    return this.left.has(id);
  }

  giveBack(id: ConversationId): void {
    this.homes.get(id)?.held.delete(id);
    this.homes.delete(id);
  }

  join(sandboxId: SandboxId, joined: Pick<Member, 'poolId' | 'userId' | 'joinedAt'>): void {
    this.joined.push({ sandboxId, ...joined });
    this.members.set(sandboxId, { ...joined, held: new Set(), affinity: null, placedCount: 0 });
  }

  /** A conversation that comes to an empty sandbox sets its affinity from then on. */
  take(sandboxId: SandboxId, id: ConversationId, { affinity }: PoolPlacement): void {
    const member = this.members.get(sandboxId);
    if (member === undefined) return;
    if (member.held.size === 0) member.affinity = affinity;
    member.held.add(id);
    member.placedCount += 1;
    this.homes.set(id, member);
  }

  ownerOf(sandboxId: SandboxId): RunId | null {
    return this.members.get(sandboxId)?.poolId ?? null;
  }

  placedIn(sandboxId: SandboxId): number {
    return this.members.get(sandboxId)?.placedCount ?? 0;
  }

  /** Null: it belongs to no pool. */
  of(sandboxId: SandboxId): PooledSandbox | null {
    const member = this.members.get(sandboxId);
    if (member === undefined) return null;
    const { poolId, affinity, placedCount, held } = member;
    return { poolId, affinity, placedCount, heldCount: held.size };
  }

  /** Every sandbox that ever belonged to the pool. */
  membersOf(poolId: RunId): readonly PoolMember[] {
    return [...this.members]
      .filter(([, member]) => member.poolId === poolId)
      .map(([sandboxId, { held }]) => ({ sandboxId, heldCount: held.size }));
  }

  /** Reserved, and its machine has not reported yet: a store has a row of it all the same. */
  *coming(hasSpoken: (id: SandboxId) => boolean): Iterable<Omit<PlacementCandidate, 'draining'>> {
    for (const [sandboxId, { userId, joinedAt }] of this.members) {
      if (hasSpoken(sandboxId)) continue;
      yield {
        sandboxId,
        userId,
        status: 'STARTING',
        available: false,
        createdAt: joinedAt,
        lastActivityAt: joinedAt,
        sessionStartedAt: null,
        attachedCount: 0,
      };
    }
  }
}
