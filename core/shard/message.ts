/**
 * What a shard of a run hears, beside what its items hear wherever they live.
 * Owns the unions; every event is a past fact. What it orders is what a run orders.
 */
import type { ConversationNotice } from '../conversation/message.ts';
import type { ItemPhase } from '../machine/projection.ts';
import type { ItemAnswer } from '../run/items/item-message.ts';
import type { Ending, RunSpec, RunItem, Slice } from '../run/state.ts';

export interface ShardSpec extends RunSpec {
  readonly slice: Slice;
}

/** What the run wants of one item: a snapshot, the highest `revision` wins. */
export interface ShardDirective {
  /** In the plan. */
  readonly index: number;
  readonly revision: number;
  readonly phase: Extract<ItemPhase, 'waiting' | 'starting' | 'ended'>;
  readonly attempt: number;
  /** Of an item in flight: how it ends once its agent rests. */
  readonly ending: Ending | null;
  readonly isStopped: boolean;
  readonly failures: RunItem['failures'];
  readonly notBefore: number | null;
  readonly endedAt: number | null;
  /** What this attempt goes by; absent while the plan that the run was begun with says it. */
  readonly spec?: RunItem['next'];
}

/** Every fact that the machine of a shard is given. */
export type ShardEvent =
  /** Again, with more items, when the run has taken up new ones. */
  | { readonly type: 'shardStarted'; readonly spec: ShardSpec }
  | { readonly type: 'itemsDirected'; readonly directives: readonly ShardDirective[] }
  /** The run has finished: for good, unless items of it may be taken up again. */
  | { readonly type: 'shardClosed'; readonly mayOpenAgain?: true }
  | ItemAnswer
  | ConversationNotice
  | { readonly type: 'deadline' };
