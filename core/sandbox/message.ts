/**
 * What a sandbox machine receives and orders.
 * Owns the unions; every event is a past fact, every command an order.
 */
import type { ConversationId, EntityAddress, SandboxId } from '../ids.ts';
import type { ErrorCode } from '../error-catalogue.ts';
import type { LifecycleEvent, SandboxRow } from '../machine/projection.ts';
import type { AgentActivity, SandboxSnapshot } from '../machine/snapshot.ts';
import type { SandboxSpec } from './state.ts';

/** Every fact that the machine of a sandbox is given. */
export type SandboxEvent =
  /** First contact: placement or the API recorded it and took its slot. */
  | { readonly type: 'created'; readonly spec: SandboxSpec }
  /** The runtime is up and its Agent Server answered. */
  | {
      readonly type: 'sandboxReady';
      readonly commandId: string;
      /** Since when it has been up, when the start found it so (D10); absent: since now. */
      readonly bootedAt?: number;
    }
  /** The runtime refused or failed for good. */
  | { readonly type: 'sandboxFailed'; readonly commandId: string; readonly reason: string }
  | { readonly type: 'sandboxStopped'; readonly commandId: string }
  /** The stop could not be confirmed: the runtime did not answer. */
  | { readonly type: 'stopFailed'; readonly commandId: string; readonly reason: string }
  | { readonly type: 'workspaceArchived'; readonly commandId: string }
  | { readonly type: 'archiveFailed'; readonly commandId: string; readonly reason: string }
  | { readonly type: 'sandboxDestroyed'; readonly commandId: string }
  | { readonly type: 'destroyFailed'; readonly commandId: string; readonly reason: string }
  | { readonly type: 'slotGranted'; readonly commandId: string }
  | { readonly type: 'slotRefused'; readonly commandId: string; readonly reason: string }
  /** No slot is free, and it stands in the line of those who wait for one (D29): as for a placement, also in how soon it asks again. */
  | {
      readonly type: 'slotWaits';
      readonly commandId: string;
      readonly detail: string;
      readonly lookAgainMs?: number;
    }
  /** There may be room for it now: it requests a slot again. */
  | { readonly type: 'roomOffered' }
  /** The idle watch: nothing happened since `lastActivityAt` for the Idle Time. */
  | {
      readonly type: 'idleReached';
      readonly commandId: string;
      readonly lastActivityAt: number;
      /** Instant of the check that found it so: later activity is not in it. */
      readonly lookedAt: number;
    }
  /** The runtime has no such sandbox (D13). */
  | { readonly type: 'runtimeGone'; readonly commandId: string }
  /** The runtime reports that this incarnation is dead. */
  | { readonly type: 'runtimeCrashed'; readonly commandId: string; readonly reason: string }
  /** The host of this incarnation took it away, to make room or to be serviced; its files are whole. */
  | { readonly type: 'runtimeEvicted'; readonly commandId: string }
  /** Its host was given up: what lived there, or was released there, is never reached again (D33). */
  | { readonly type: 'hostLost' }
  /** The runtime could not be queried (D13). */
  | { readonly type: 'runtimeUnknown'; readonly commandId: string }
  /** It could be queried again. */
  | { readonly type: 'runtimeAnswered'; readonly commandId: string }
  | {
      readonly type: 'attachRequested';
      readonly requestId: string;
      readonly conversationId: ConversationId;
      /** Chosen although it may be released: by the caller, or because it belongs to the pool of the run. */
      readonly explicit: boolean;
      /** Set by the conversation that placement made the sandbox for: first contact and attachment are one message. */
      readonly spec: SandboxSpec | null;
    }
  | { readonly type: 'detached'; readonly conversationId: ConversationId }
  | {
      readonly type: 'resumeRequested';
      readonly requestId: string;
      /** Null when a user requested it through the API. */
      readonly conversationId: ConversationId | null;
      /** The conversation is an item of a run, where no free slot is a wait whatever the policy (D29). */
      readonly inRun?: true;
    }
  | { readonly type: 'pauseRequested'; readonly requestId: string; readonly reason: 'user' | 'capacity' }
  | {
      readonly type: 'deleteRequested';
      readonly requestId: string;
      /** Emptying a host deletes only what was released, as its Deletion Time does, and leaves all else alone (D33). */
      readonly onlyReleased?: true;
    }
  /** The start of a conversation in it has failed for good. */
  | { readonly type: 'startFailed'; readonly conversationId: ConversationId }
  /** The activity of an attached agent: a snapshot, newest wins. */
  | {
      readonly type: 'agentNoticed';
      readonly conversationId: ConversationId;
      readonly sequence: number;
      readonly activity: AgentActivity;
    }
  | { readonly type: 'deadline' };

/** What a sandbox sends others. */
export type SandboxNotice =
  | { readonly type: 'sandboxNoticed'; readonly sandbox: SandboxSnapshot }
  | {
      readonly type: 'attachAnswered';
      readonly requestId: string;
      readonly accepted: boolean;
      readonly sandbox: SandboxSnapshot;
    }
  | {
      readonly type: 'resumeAnswered';
      readonly requestId: string;
      readonly refusal: ErrorCode | null;
      readonly sandbox: SandboxSnapshot;
    };

/** Fields that every runtime order carries: a stale generation is refused (D14). */
interface RuntimeOrder {
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

export type SandboxOrder =
  | (RuntimeOrder & {
      readonly type: 'createSandbox';
      readonly deadline: number;
      /** Set for one of the warm pool: up since then, if it still is. */
      readonly bootedAt?: number;
    })
  | (RuntimeOrder & { readonly type: 'resumeSandbox'; readonly deadline: number })
  | (RuntimeOrder & { readonly type: 'stopSandbox' })
  | (RuntimeOrder & { readonly type: 'archiveWorkspace' })
  | (RuntimeOrder & { readonly type: 'destroySandbox' })
  | (RuntimeOrder & { readonly type: 'reserveSlot'; readonly userId: string; readonly inRun?: true })
  /** Its slot is free: the next in the line is notified (D29). */
  | { readonly type: 'offerRoom'; readonly sandboxId: SandboxId }
  /** Watches activity and runtime without filling a history; ends in one event. Null switches the idle rule off. */
  | (RuntimeOrder & {
      readonly type: 'watchIdle';
      readonly since: number;
      readonly idleTimeMs: number | null;
      /** True: the runtime was unknown; end with `runtimeAnswered` as soon as it answers. */
      readonly stale: boolean;
    })
  | { readonly type: 'record'; readonly event: LifecycleEvent }
  | { readonly type: 'cancelCommand'; readonly commandId: string }
  | { readonly type: 'project'; readonly rows: readonly SandboxRow[] }
  | { readonly type: 'send'; readonly to: EntityAddress; readonly event: SandboxNotice };
