/**
 * What really happened in the world behind the commands, as checkers see it.
 * Owns the interface; reading never changes anything, so that a run is the same with and without checkers.
 */
import type { ConversationId, RunId, SandboxId, UserId } from '../core/ids.ts';
import type { Waiter } from '../core/placement/line.ts';
import type { HostFacts } from './hosts/host-facts.ts';
import type { Policy } from './models/model-options.ts';

/** A sandbox that came into the pool of a run; it belongs there until its end. */
export interface PoolJoin {
  readonly sandboxId: SandboxId;
  readonly poolId: RunId;
  /** Epoch milliseconds. */
  readonly joinedAt: number;
}

export interface PoolFacts {
  /** In the order in which they came. */
  readonly joined: readonly PoolJoin[];
  /** Whose pool it belongs to; null for none. */
  ownerOf(sandboxId: SandboxId): RunId | null;
  /** Conversations that ever took a place in it. */
  placedIn(sandboxId: SandboxId): number;
}

export interface WorldFacts {
  readonly policy: Policy;
  /** Generations of live runtime objects, by sandbox; none when it has no entry. */
  readonly live: ReadonlyMap<SandboxId, ReadonlySet<number>>;
  /** True once the Agent Server of this incarnation has answered, whatever became of it since. */
  wasUp(sandboxId: SandboxId, generation: number): boolean;
  /** Sandboxes beside which a runtime object stands that the product did not start. */
  foreign(): Iterable<SandboxId>;
  readonly pools: PoolFacts;
  /** It takes no conversation any more, whether its end has been reported to it or not. */
  isGoing(sandboxId: SandboxId): boolean;
  /** The sandboxes that hold a capacity slot, with their users. */
  readonly slots: ReadonlyMap<SandboxId, UserId>;
  /** Hosts and where sandboxes live (D33); absent or null: they are bound to none. */
  readonly hosts?: HostFacts | null;
  /** The waiters in the line for which there is a slot now (D29). */
  turns(): readonly Waiter[];
  readonly archived: ReadonlySet<SandboxId>;
  /** How often an agent took a message, by message id. */
  readonly delivered: ReadonlyMap<string, number>;
  /** How often a message was refused with an event, by message id. */
  readonly refused: ReadonlyMap<string, number>;
  /** Messages that were accepted from a user, with their conversation. */
  readonly accepted: ReadonlyMap<string, ConversationId>;
  /** Latest activity of a sandbox by D9, up to `now`. */
  lastActivityAt(sandboxId: SandboxId, now: number): number;
  /** Events of a conversation so far. */
  transcriptOf(id: ConversationId): number;
  /** Integer nano-USD that collections have reported to runs so far. */
  readonly toldNanoUsd: number;
  /** What the gateway billed for one conversation up to `now`. */
  spentBy(id: ConversationId, now: number): number;
}
