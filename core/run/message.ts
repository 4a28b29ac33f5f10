/**
 * What a run machine receives and orders.
 * Owns the unions; every event is a past fact, every command an order.
 */
import type { ConversationEvent, ConversationNotice } from '../conversation/message.ts';
import type { ConversationId, EntityAddress, RunId, SandboxId, UserId } from '../ids.ts';
import type { HostPin } from '../placement/choose-host.ts';
import type { LifecycleEvent, ReconciliationSummary, RunItemRow, RunRow } from '../machine/projection.ts';
import type { SandboxEvent } from '../sandbox/message.ts';
import type { ShardEvent } from '../shard/message.ts';
import type { FailureClass, GroupingStrategy } from '../status.ts';
import type { ItemAnswer, ShardReport } from './items/item-message.ts';
import type { RunSpec, RunItemSpec } from './state.ts';

interface Asked {
  readonly requestId: string;
  /** Name of the caller, for people; absent where it is not known. */
  readonly by?: string | undefined;
}

/** Settings of a run that goes on; what is absent stays. */
export interface RunSettings {
  readonly concurrency?: number | undefined;
  /** Null: no distance between starts. */
  readonly startEveryMs?: number | null | undefined;
  /** Spend of the whole run; the plan must have a budget. */
  readonly budgetNanoUsd?: number | undefined;
}

/** Every fact that the machine of a run is given. */
export type RunEvent =
  | { readonly type: 'runStarted'; readonly spec: RunSpec }
  | ItemAnswer
  | ShardReport
  | ConversationNotice
  /** `isOurs` false: a conversation of other origin is in it, so it is left alone. */
  | {
      readonly type: 'sandboxCleanedUp';
      readonly commandId: string;
      readonly sandboxId: SandboxId;
      readonly isOurs: boolean;
      /** It is ours, and a conversation in it is at work. */
      readonly isBusy?: true;
    }
  /** The sandboxes of the pool that were made ahead; `reason` is why there are fewer than its size, null when not. */
  | {
      readonly type: 'poolWarmed';
      readonly commandId: string;
      readonly sandboxIds: readonly SandboxId[];
      readonly reason: string | null;
    }
  | { readonly type: 'runReconciled'; readonly commandId: string; readonly summary: ReconciliationSummary }
  | { readonly type: 'reconcileFailed'; readonly commandId: string; readonly reason: string }
  | { readonly type: 'runReported'; readonly commandId: string }
  /** `isSent` false: the job wants notifications only of runs that end otherwise. */
  | { readonly type: 'runNotified'; readonly commandId: string; readonly isSent: boolean }
  | { readonly type: 'notifyFailed'; readonly commandId: string; readonly reason: string }
  /** The whole run, or only the items named. */
  | (Asked & { readonly type: 'cancelRequested'; readonly keys?: readonly string[] | undefined })
  | (Asked & { readonly type: 'drainRequested' })
  /** Nothing new begins until the run is resumed. */
  | (Asked & { readonly type: 'holdRequested' })
  /** Admits again, and takes up what failed in one of these classes. */
  | (Asked & { readonly type: 'resumeRequested'; readonly classes: readonly FailureClass[] })
  /** Items that have ended are taken up once more, however they ended. */
  | (Asked & { readonly type: 'requeueRequested'; readonly keys: readonly string[] })
  | (Asked & { readonly type: 'settingsChanged'; readonly settings: RunSettings })
  /** Another plan, which is in the store under its hash; compared with the one of `basePlanHash`. */
  | (Asked & {
      readonly type: 'planAmended';
      readonly basePlanHash: string;
      readonly planHash: string;
      /** `isAnew` false: only what it waits for, or its place, has changed. */
      readonly changed: readonly {
        readonly index: number;
        readonly spec: RunItemSpec;
        readonly isAnew: boolean;
      }[];
      /** Behind all others. */
      readonly added: readonly RunItemSpec[];
      /** Positions of items that the job no longer has. */
      readonly retired: readonly number[];
      /** Positions of items that stood for conversations which are known now; absent for none. */
      readonly replaced?: readonly number[];
    })
  | { readonly type: 'deadline' };

interface ItemOrder {
  readonly runId: RunId;
  readonly index: number;
  readonly key: string;
  readonly attempt: number;
  /** Hash of the amended plan that has the item; absent: the plan that the run was begun with. */
  readonly plan?: string;
}

export type RunOrder =
  | (ItemOrder & {
      readonly type: 'startConversation';
      /** Its user's own setting as the run began; absent where the job names one. */
      readonly strategy?: GroupingStrategy;
    })
  | (ItemOrder & {
      readonly type: 'verifyItem';
      readonly conversationId: ConversationId;
      readonly sandboxId: SandboxId;
    })
  | (ItemOrder & {
      readonly type: 'collectItem';
      readonly conversationId: ConversationId;
      readonly sandboxId: SandboxId | null;
      /** False: only what is stored outside the sandbox can be collected. */
      readonly workspaceReadable: boolean;
    })
  /** Deletes or pauses a sandbox if only conversations of this run are attached to it, decided in one transaction. */
  | {
      readonly type: 'cleanUpSandbox';
      readonly runId: RunId;
      readonly sandboxId: SandboxId;
      readonly how: 'delete' | 'pause';
      /** While the run still places: left alone when an agent in it is at work, or a conversation has just come. */
      readonly whileRunning?: true;
    }
  /** Makes sandboxes of the pool ahead until so many live, as far as there are slots for them. */
  | {
      readonly type: 'warmPool';
      readonly runId: RunId;
      readonly userId: UserId;
      readonly size: number;
      /** What their host must be; absent: any will do. */
      readonly host?: HostPin;
      /** Never the same twice in a run: those made before keep their ids, also after their end. Absent at its beginning. */
      readonly round?: number;
    }
  | { readonly type: 'reconcileRun'; readonly runId: RunId }
  | { readonly type: 'reportRun'; readonly runId: RunId }
  /** `step`: position under `finally` of the plan. */
  | { readonly type: 'notifyOfRun'; readonly runId: RunId; readonly step: number }
  /** A client changed the run, and the change is recorded for readers. */
  | { readonly type: 'record'; readonly event: LifecycleEvent }
  | { readonly type: 'cancelCommand'; readonly commandId: string }
  | { readonly type: 'project'; readonly rows: readonly (RunRow | RunItemRow)[] }
  | {
      readonly type: 'send';
      readonly to: EntityAddress;
      readonly event: SandboxEvent | ConversationEvent | ShardEvent | ShardReport | ConversationNotice;
    };
