/**
 * What really happened in the world behind the commands, as checkers see it.
 * Owns the interface; asking never changes anything, so that a run is the same with and without checkers.
 */
import type { ConversationId, SandboxId, UserId } from '../core/ids.ts';
import type { Policy } from './models/model-options.ts';

export interface WorldFacts {
  readonly policy: Policy;
  /** Generations of live runtime objects, by sandbox; none when it has no entry. */
  readonly live: ReadonlyMap<SandboxId, ReadonlySet<number>>;
  /** True once the Agent Server of this incarnation has answered, whatever became of it since. */
  wasUp(sandboxId: SandboxId, generation: number): boolean;
  /** Sandboxes beside which a runtime object stands that nobody started for us. */
  foreign(): Iterable<SandboxId>;
  /** Who holds a capacity slot. */
  readonly slots: ReadonlyMap<SandboxId, UserId>;
  readonly archived: ReadonlySet<SandboxId>;
  /** How often an agent took a message it was handed, by message id. */
  readonly delivered: ReadonlyMap<string, number>;
  /** How often a message was refused with an event, by message id. */
  readonly refused: ReadonlyMap<string, number>;
  /** Messages that were accepted from a user, with their conversation. */
  readonly accepted: ReadonlyMap<string, ConversationId>;
  /** Latest activity of a sandbox by D9, up to `now`. */
  lastActivityAt(sandboxId: SandboxId, now: number): number;
  /** Events of a conversation so far. */
  transcriptOf(id: ConversationId): number;
  /** Integer nano-USD that collections have told runs so far. */
  readonly toldNanoUsd: number;
  /** What the gateway billed for one conversation up to `now`. */
  spentBy(id: ConversationId, now: number): number;
}
