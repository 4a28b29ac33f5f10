/**
 * How an activity or an edge speaks to a machine.
 * Owns the interface; the embedded engine and Temporal implement it.
 */
import type { ConversationEvent } from '../core/conversation/message.ts';
import type { ConversationId, RunId, SandboxId } from '../core/ids.ts';
import type { RunEvent } from '../core/run/message.ts';
import type { ShardEvent } from '../core/shard/message.ts';
import type { SandboxEvent } from '../core/sandbox/message.ts';

/** An event with its receiver; the pairing is checked by the compiler. */
export type Delivery =
  | { readonly to: { readonly machine: 'sandbox'; readonly id: SandboxId }; readonly event: SandboxEvent }
  | {
      readonly to: { readonly machine: 'conversation'; readonly id: ConversationId };
      readonly event: ConversationEvent;
    }
  | { readonly to: { readonly machine: 'run'; readonly id: RunId }; readonly event: RunEvent }
  | { readonly to: { readonly machine: 'shard'; readonly id: string }; readonly event: ShardEvent };

/** Brings events to machines, whichever engine drives them. */
export interface Notifier {
  /**
   * Accepted durably when it returns. A tombstoned entity drops the event, which is success too (D11).
   * @throws ParleyError store_unavailable; nothing was accepted
   */
  deliver(delivery: Delivery): Promise<void>;
}
