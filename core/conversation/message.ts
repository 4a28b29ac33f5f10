/**
 * What a conversation machine receives and orders.
 * Owns the unions; every event is a past fact, every command an order.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import type { ConversationId, EntityAddress, RunId, SandboxId, UserId } from '../ids.ts';
import type { HostPin } from '../placement/choose-host.ts';
import type { PoolPlacement } from '../placement/place-in-pool.ts';
import type { ConversationRow, LifecycleEvent } from '../machine/projection.ts';
import type { SandboxEvent, SandboxNotice } from '../sandbox/message.ts';
import type { SandboxSpec } from '../sandbox/state.ts';
import type { ConversationSnapshot, LimitReached } from '../machine/snapshot.ts';
import type { ExecutionStatus, GroupingStrategy } from '../status.ts';
import type { ConversationSpec, QueuedItem } from './state.ts';

/** What an agent reported, from a callback or from the watch: a snapshot, newest wins by `at`. */
export interface AgentReport {
  readonly status: ExecutionStatus;
  readonly pausedReason: 'rate_limit' | null;
  /** Epoch milliseconds by the agent's clock. */
  readonly at: number;
  /** Sandbox generation it came from; an older one is stale (D14). */
  readonly generation: number;
  /** `turns` when the agent stopped at its iteration limit (D28). */
  readonly limitReached: LimitReached | null;
  /** With a rate limit: when to go on, epoch milliseconds of the driver's clock; null when the endpoint did not say. */
  readonly retryAt: number | null;
  /** Why it is in ERROR, as the agent reported it; null otherwise. */
  readonly detail: string | null;
}

/** Every fact that the machine of a conversation is given. */
export type ConversationEvent =
  | { readonly type: 'started'; readonly spec: ConversationSpec; readonly watcher: EntityAddress | null }
  /**
   * `spec` is set when placement made a new sandbox; `leftBehind` when the one that refused before is empty and is
   * deleted, too (D11); `spilled` when the pool of its run was full, and the sandbox is none of it.
   */
  | {
      readonly type: 'placed';
      readonly commandId: string;
      readonly sandboxId: SandboxId;
      readonly spec: SandboxSpec | null;
      readonly leftBehind?: SandboxId;
      readonly spilled?: true;
    }
  | {
      readonly type: 'placementRefused';
      readonly commandId: string;
      readonly code: ErrorCode;
      readonly reason: string;
      readonly leftBehind?: SandboxId;
    }
  /** No slot is free, and it stands in the line of those who wait for one (D29); `detail` says who has them. */
  | {
      readonly type: 'placementWaits';
      readonly commandId: string;
      readonly detail: string;
      /** The least time until it requests a place again without an offer of room; absent: `CAPACITY_POLL_MS`. */
      readonly lookAgainMs?: number;
      readonly leftBehind?: SandboxId;
    }
  /** There may be room for it now: it requests a place again. */
  | { readonly type: 'roomOffered' }
  /** `isSetUp`: neither the repository nor the job has a set-up script; absent where that is unknown. */
  | { readonly type: 'repositoryPrepared'; readonly commandId: string; readonly isSetUp?: true }
  | { readonly type: 'setupScriptRan'; readonly commandId: string }
  | { readonly type: 'gitHooksSetUp'; readonly commandId: string }
  | { readonly type: 'skillsSetUp'; readonly commandId: string }
  | { readonly type: 'agentOpened'; readonly commandId: string; readonly report: AgentReport }
  /** A step of the start, or the re-arming of the agent, failed for good. */
  | {
      readonly type: 'stepFailed';
      readonly commandId: string;
      readonly code: ErrorCode;
      readonly reason: string;
    }
  /** The report is the agent's state right after the delivery, so that no older one is taken for its effect. */
  | {
      readonly type: 'itemDelivered';
      readonly commandId: string;
      readonly itemId: string;
      readonly report: AgentReport;
    }
  | {
      readonly type: 'deliveryFailed';
      readonly commandId: string;
      readonly itemId: string;
      readonly reason: string;
    }
  | { readonly type: 'agentReported'; readonly commandId: string | null; readonly report: AgentReport }
  /** The watch met a limit of the item: spend, or no progress. */
  | { readonly type: 'agentLimitReached'; readonly commandId: string; readonly limit: LimitReached }
  | { readonly type: 'agentInterrupted'; readonly commandId: string }
  | {
      readonly type: 'messageReceived';
      readonly messageId: string;
      readonly text: string;
      readonly run: boolean;
    }
  | {
      readonly type: 'confirmationAnswered';
      readonly requestId: string;
      readonly accept: boolean;
      readonly reason: string;
    }
  | { readonly type: 'continueRequested'; readonly requestId: string }
  | { readonly type: 'interruptRequested'; readonly requestId: string }
  /** A workspace read of a released sandbox brings it back (D7). */
  | { readonly type: 'accessRequested'; readonly requestId: string }
  | {
      readonly type: 'metadataChanged';
      readonly requestId: string;
      readonly title: string | null;
      readonly tags: Readonly<Record<string, string>> | null;
    }
  | { readonly type: 'deleteRequested'; readonly requestId: string }
  | { readonly type: 'conversationRemoved'; readonly commandId: string; readonly sandboxToRemove: boolean }
  | { readonly type: 'deadline' }
  | SandboxNotice;

export interface ConversationNotice {
  readonly type: 'conversationNoticed';
  readonly conversation: ConversationSnapshot;
}

interface About {
  readonly conversationId: ConversationId;
}

interface AgentOrder extends About {
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

export type ConversationOrder =
  | (About & {
      readonly type: 'placeConversation';
      readonly userId: UserId;
      readonly strategy: GroupingStrategy;
      readonly sandboxId: SandboxId | null;
      /** Absent: the job has no pool. */
      readonly pool?: PoolPlacement;
      /** What the host of a new sandbox must be; absent: any will do. */
      readonly host?: HostPin;
      readonly excluded: readonly SandboxId[];
      /** Nothing is placed any more: the place that was refused is given back, and the answer is a refusal. */
      readonly onlyLeaves?: true;
      /** Its run, which waits for a slot instead of being refused one (D29); absent for a start over the API. */
      readonly runId?: RunId;
    })
  | (AgentOrder & {
      readonly type: 'prepareRepository';
      readonly repository: string | null;
      readonly codeHost: string | null;
      readonly branch: string | null;
    })
  | (AgentOrder & { readonly type: 'runSetupScript'; readonly isSetUp?: true })
  | (AgentOrder & { readonly type: 'setUpGitHooks' })
  | (AgentOrder & { readonly type: 'setUpSkills' })
  /** Opens the agent's conversation, or arms the one that exists with this generation's keys (D15, D19). */
  | (AgentOrder & {
      readonly type: 'openAgent';
      readonly userId: UserId;
      readonly model: string | null;
      readonly tags: Readonly<Record<string, string>>;
      readonly iterationsMax: number;
      readonly confirmation: ConversationSpec['confirmation'];
    })
  | (AgentOrder & { readonly type: 'deliverItem'; readonly item: QueuedItem })
  /** Ends in `agentReported` as soon as the agent is not working any more, or in `agentLimitReached`. */
  | (AgentOrder & {
      readonly type: 'watchAgent';
      readonly nanoUsdMax: number | null;
      readonly noProgressMs: number | null;
    })
  | (AgentOrder & { readonly type: 'interruptAgent' })
  | (About & { readonly type: 'removeConversation'; readonly generation: number })
  | { readonly type: 'record'; readonly event: LifecycleEvent }
  | { readonly type: 'cancelCommand'; readonly commandId: string }
  | { readonly type: 'project'; readonly rows: readonly ConversationRow[] }
  | { readonly type: 'send'; readonly to: EntityAddress; readonly event: SandboxEvent | ConversationNotice };
