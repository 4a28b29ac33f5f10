/**
 * Placement and capacity in memory, each call whole or not at all.
 * Owns attachments and what the projections say of sandboxes; the choice itself is the pure `place` (D16).
 */
import type { CommandOf } from '../../core/machine/command.ts';
import type { ConversationId, RunId, SandboxId } from '../../core/ids.ts';
import type { PlacementCandidate, PlacementRefusal } from '../../core/placement/place.ts';
import { claimOf, goesWhenEmpty, type ClaimOutcome } from '../../core/placement/claim.ts';
import { isLivingInPool, mayAskAgain, placeWithPool } from '../../core/placement/place-in-pool.ts';
import { leavesLine, passesSlotOn, withoutSlot } from '../../core/placement/slot-choice.ts';
import type { TakenSlots } from '../../core/placement/line.ts';
import type { ProjectionRow, SandboxRow } from '../../core/machine/projection.ts';
import { isNewer } from '../../core/machine/snapshot.ts';
import { isLeaving } from '../../core/sandbox/row.ts';
import type { HostWorkers } from '../hosts/host-workers.ts';
import { sandboxIdOf } from './derived-id.ts';
import { KnownConversations } from './known-conversations.ts';
import { PoolModel } from './pool-model.ts';
import type { Policy } from './model-options.ts';
import { SlotModel } from './slot-model.ts';

/**
 * With the sandbox that refused before, when it goes because no conversation is in it; and whether it stood in the line
 * and took no slot.
 */
export type PlaceOutcome = { readonly leftBehind?: SandboxId; readonly leftLine?: true } & (
  | ({ readonly kind: 'placed' } & Attachment)
  | { readonly kind: 'refused'; readonly refusal: PlacementRefusal }
  | { readonly kind: 'waits'; readonly slots: TakenSlots }
);

/** What a placement goes by besides its command. */
interface Look {
  readonly now: number;
  readonly lastActivityAt: (id: SandboxId) => number;
  /** True: no sandbox is found, whatever there is. */
  readonly fails?: boolean;
}

const refused = (code: PlacementRefusal['code'], reason: string): PlaceOutcome => ({
  kind: 'refused',
  refusal: { code, reason },
});
const NO_SANDBOX = refused('placement_failed', 'Cannot place: no sandbox accepted it');
const ATTEMPT_OVER = refused('not_found', 'Cannot place: its attempt is over');

interface Attachment {
  readonly sandboxId: SandboxId;
  readonly created: boolean;
  /** Whether the sandbox is outside the pool that was requested; absent where none was. */
  readonly spilled?: boolean | undefined;
}

export class PlacementModel {
  readonly rows = new Map<SandboxId, SandboxRow>();
  readonly pools = new PoolModel();
  readonly slots: SlotModel;
  private readonly runOf = new Map<ConversationId, RunId>();
  private readonly attached = new Map<ConversationId, Attachment>();
  private readonly members = new Map<SandboxId, Set<ConversationId>>();
  /** The sandboxes of conversations that have left. */
  private readonly left = new Map<ConversationId, SandboxId | null>();
  /** On a repeated call a conversation that was refused for good is refused again. */
  private readonly refusals = new Map<ConversationId, PlaceOutcome>();
  private readonly conversations = new KnownConversations();
  private readonly draining = new Set<SandboxId>();
  private readonly misleading = new Set<SandboxId>();
  private readonly policy: Policy;

  constructor(policy: Policy, hosts: HostWorkers | null = null) {
    this.policy = policy;
    this.slots = new SlotModel(policy.capacity, hosts);
  }

  project(rows: readonly ProjectionRow[]): void {
    for (const row of rows) {
      if (row.table === 'conversation') this.conversations.note(row);
      if (row.table === 'run_item') this.pools.note(row);
      if (row.table !== 'sandbox' || !isNewer(row, this.rows.get(row.sandboxId) ?? null)) continue;
      this.rows.set(row.sandboxId, row);
      if (!row.holdsSlot) this.slots.giveBack(row.sandboxId);
      if (row.status === 'MISSING') this.slots.end(row.sandboxId);
    }
  }

  /** An agent in it is at work, or a conversation without a record yet is still starting. An old row counts neither. */
  hasWork(sandboxId: SandboxId): boolean {
    for (const id of this.membersOf(sandboxId)) if (!this.conversations.isResting(id)) return true;
    return false;
  }

  /** From now on its row is read as if it were available: a replica that lags. */
  mislead(sandboxId: SandboxId): void {
    this.misleading.add(sandboxId);
  }

  /** Every row is read as it is again. */
  readAnew(): void {
    this.misleading.clear();
  }

  /** The sandbox a conversation was placed in; null before, and once it has left. */
  homeOf(id: ConversationId): SandboxId | null {
    return this.attached.get(id)?.sandboxId ?? null;
  }

  /** The sandbox whose workspace can be read now: its conversation has started, and it is up; null for none. */
  openTo(id: ConversationId): SandboxId | null {
    const home = this.homeOf(id);
    const isOpen = home !== null && this.conversations.isReady(id) && this.rows.get(home)?.available === true;
    return isOpen ? home : null;
  }

  membersOf(sandboxId: SandboxId): Iterable<ConversationId> {
    return this.members.get(sandboxId) ?? [];
  }

  place(command: CommandOf<'placeConversation'>, poll: Look): PlaceOutcome {
    const { conversationId, excluded } = command;
    // A late placement would take a slot for a conversation that has left (D11).
    if (this.left.has(conversationId)) return refused('not_found', 'Cannot place: it has left');
    const recorded = this.attached.get(conversationId);
    const isMoved = recorded !== undefined && excluded.includes(recorded.sandboxId);
    if (isMoved) this.leave(conversationId, recorded.sandboxId);
    if (command.runId !== undefined) this.runOf.set(conversationId, command.runId);
    const found = this.outcomeOf(command, isMoved ? undefined : recorded, poll);
    const stood = leavesLine(found) && this.slots.leaveLine(conversationId);
    const outcome: PlaceOutcome = passesSlotOn(stood, found) ? { ...found, leftLine: true } : found;
    // Decided by the last refusal, and not by this move: a repeat of this call returns the same.
    const last = excluded.at(-1);
    return last === undefined || !this.drainIfEmpty(last) ? outcome : { ...outcome, leftBehind: last };
  }

  private outcomeOf(
    command: CommandOf<'placeConversation'>,
    recorded: Attachment | undefined,
    poll: Look,
  ): PlaceOutcome {
    const { conversationId, onlyLeaves = false } = command;
    const refusal = this.refusals.get(conversationId);
    if (!onlyLeaves && recorded !== undefined) return { kind: 'placed', ...recorded };
    if (!onlyLeaves && refusal !== undefined) return refusal;
    const outcome = onlyLeaves || poll.fails === true ? NO_SANDBOX : this.placeAnew(command, poll);
    if (outcome.kind === 'refused' && !mayAskAgain(outcome.refusal, command.pool))
      this.refusals.set(conversationId, outcome);
    return outcome;
  }

  private placeAnew(command: CommandOf<'placeConversation'>, { now, lastActivityAt }: Look): PlaceOutcome {
    const { conversationId, userId, strategy, sandboxId, excluded, pool } = command;
    if (this.pools.hasLeft(conversationId)) return ATTEMPT_OVER;
    const needsCandidates = strategy !== 'NO_GROUPING' || sandboxId !== null || pool !== undefined;
    const question = {
      userId,
      strategy,
      explicit: sandboxId,
      excluded,
      candidates: needsCandidates ? this.candidates(lastActivityAt) : [],
      conversationsPerSandboxMax: this.policy.capacity.conversationsPerSandboxMax,
      now,
    };
    const placement = placeWithPool(question, pool);
    if (placement.kind === 'refused') return placement;
    const spilled = placement.decision.pool?.spilled;
    if (placement.kind === 'existing')
      return this.attach(command, { sandboxId: placement.sandboxId, created: false, spilled });
    const fresh = sandboxIdOf(conversationId, excluded.length);
    const none = this.slots.take(fresh, userId, conversationId);
    if (none !== null) {
      const waits = command.runId !== undefined || this.policy.onFull !== 'refuse';
      const instead = withoutSlot(none, { ...command, otherwise: placement.otherwise, waits });
      if (instead.kind === 'refused') return instead;
      if (instead.kind === 'waits') return this.wait(command, instead.slots);
      return this.attach(command, { sandboxId: instead.sandboxId, created: false, spilled });
    }
    if (spilled === false && pool !== undefined)
      this.pools.join(fresh, { poolId: pool.poolId, userId, joinedAt: now });
    return this.attach(command, { sandboxId: fresh, created: true, spilled });
  }

  /** A sandbox made ahead; false when its pool is as large as it may be, or no slot is free. */
  warm(sandboxId: SandboxId, { runId, userId, size }: CommandOf<'warmPool'>, now: number): boolean {
    // What was made once stays made, also after its end.
    if (this.pools.of(sandboxId) !== null) return true;
    const living = this.candidates(() => 0).filter(
      (candidate) => candidate.pool?.poolId === runId && isLivingInPool(candidate),
    );
    if (living.length >= size || this.slots.take(sandboxId, userId) !== null) return false;
    this.pools.join(sandboxId, { poolId: runId, userId, joinedAt: now });
    return true;
  }

  /** Inside a run no free slot is a wait (D29). */
  private wait(
    { conversationId: waiterId, userId, runId }: CommandOf<'placeConversation'>,
    slots: Omit<TakenSlots, 'ofRun'>,
  ): PlaceOutcome {
    this.slots.joinLine({ waiterId, machine: 'conversation', userId });
    return { kind: 'waits', slots: { ...slots, ofRun: runId === undefined ? null : this.slotsOfRun(runId) } };
  }

  private slotsOfRun(runId: RunId): number {
    const isOfRun = (id: ConversationId) => this.runOf.get(id) === runId;
    return [...this.slots.holders.keys()].filter((id) => [...this.membersOf(id)].some(isOfRun)).length;
  }

  /** True when the sandbox goes with its last conversation, also on a repeat; it takes no placement any more (D11). */
  detach(id: ConversationId): boolean {
    this.slots.leaveLine(id);
    const sandboxId = this.attached.get(id)?.sandboxId ?? this.left.get(id);
    this.left.set(id, sandboxId ?? null);
    if (sandboxId === undefined || sandboxId === null) return false;
    this.leave(id, sandboxId);
    return this.drainIfEmpty(sandboxId);
  }

  private leave(id: ConversationId, sandboxId: SandboxId): void {
    this.attached.delete(id);
    this.pools.giveBack(id);
    this.members.get(sandboxId)?.delete(id);
  }

  private drainIfEmpty(sandboxId: SandboxId): boolean {
    const row = this.rows.get(sandboxId);
    if (!goesWhenEmpty(this.members.get(sandboxId)?.size ?? 0, row?.createdBy ?? 'placement')) return false;
    this.draining.add(sandboxId);
    // Its machine never reported, so nothing else would give the slot back.
    if (row === undefined) this.slots.end(sandboxId);
    return true;
  }

  /** One that is to be removed takes no conversation in from then on. */
  claim(
    sandboxId: SandboxId,
    options: {
      readonly runId: RunId;
      readonly isOf: (id: ConversationId) => boolean;
      readonly toRemove: boolean;
      readonly onlyAtRest: boolean;
    },
  ): ClaimOutcome {
    const { runId, isOf, toRemove, onlyAtRest } = options;
    const members = [...this.membersOf(sandboxId)];
    const inside = members.map((id) => ({ isOurs: isOf(id), isAtWork: !this.conversations.isResting(id) }));
    const pooled = this.pools.of(sandboxId);
    const isPlaceTaken = pooled?.poolId === runId && pooled.heldCount > 0;
    const outcome = claimOf(inside, { onlyAtRest, isPlaceTaken });
    if (outcome === 'ours' && toRemove) this.draining.add(sandboxId);
    return outcome;
  }

  private attach(
    { conversationId: id, pool }: CommandOf<'placeConversation'>,
    place: Attachment,
  ): PlaceOutcome {
    const { sandboxId, spilled } = place;
    this.attached.set(id, place);
    const members = this.members.get(sandboxId) ?? new Set();
    this.members.set(sandboxId, members.add(id));
    if (spilled === false && pool !== undefined) this.pools.take(sandboxId, id, pool);
    return { kind: 'placed', ...place };
  }

  private candidates(lastActivityAt: (id: SandboxId) => number): readonly PlacementCandidate[] {
    const known = [...this.rows.values()].map((row) => {
      const lies = this.misleading.has(row.sandboxId);
      return this.withPool({
        sandboxId: row.sandboxId,
        userId: row.userId,
        status: lies ? 'RUNNING' : row.status,
        available: lies || row.available,
        draining: !lies && this.isLeaving(row),
        createdAt: row.createdAt,
        lastActivityAt: lastActivityAt(row.sandboxId),
        sessionStartedAt: row.sessionStartedAt ?? (lies ? row.createdAt : null),
        attachedCount: this.members.get(row.sandboxId)?.size ?? 0,
      });
    });
    const coming = [...this.pools.coming((id) => this.rows.has(id))].map((one) =>
      this.withPool({ ...one, draining: this.draining.has(one.sandboxId) }),
    );
    return [...known, ...coming];
  }

  private withPool(candidate: PlacementCandidate): PlacementCandidate {
    const pool = this.pools.of(candidate.sandboxId);
    return pool === null ? candidate : { ...candidate, pool };
  }

  isGoing(sandboxId: SandboxId): boolean {
    return this.draining.has(sandboxId);
  }

  private isLeaving({ sandboxId, transition }: SandboxRow): boolean {
    return this.draining.has(sandboxId) || isLeaving(transition);
  }
}
