/**
 * Records that queries read, and the logs beside them.
 * Owns the interfaces; projections are written only through EngineStore.commit or `project`.
 */
import type { ConversationId, RunId, SandboxId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import type {
  ConversationRow,
  LifecycleEvent,
  ProjectionRow,
  RunItemRow,
  RunRow,
  SandboxRow,
} from '../core/machine/projection.ts';

/** The newest projection of every entity. */
export interface RecordStore {
  /** Writes rows guarded by (generation, sequence): an older one never wins. Used by drivers without EngineStore. */
  project(rows: readonly ProjectionRow[]): Promise<void>;
  sandbox(id: SandboxId): Promise<SandboxRow | null>;
  /** `living`: only those that are not `MISSING`, and on that host or bound to none; `host` null: wherever they are. */
  sandboxes(living?: { readonly host: string | null }): Promise<readonly SandboxRow[]>;
  conversation(id: ConversationId): Promise<ConversationRow | null>;
  conversations(filter?: {
    readonly runId?: RunId;
    readonly sandboxId?: SandboxId;
  }): Promise<readonly ConversationRow[]>;
  run(id: RunId): Promise<RunRow | null>;
  /** Newest first. */
  runs(): Promise<readonly RunRow[]>;
  /** In plan order of first projection. */
  runItems(id: RunId): Promise<readonly RunItemRow[]>;
  runItem(id: RunId, key: string): Promise<RunItemRow | null>;
  /** Removes a conversation's record and transcript and leaves a tombstone (D11). Idempotent. */
  removeConversation(id: ConversationId): Promise<void>;
}

/** Plans by run, immutable once written. */
export interface PlanStore {
  /** Idempotent for the same plan hash. @throws ParleyError run_exists when the run has another plan. */
  putPlan(runId: RunId, plan: Plan): Promise<void>;
  plan(runId: RunId): Promise<Plan | null>;
}

/** An event of a transcript, stored as it came, with a sequence number of our own. */
export interface StoredEvent {
  /** Counts from 1 within the conversation, without gaps: the stable cursor. */
  readonly sequence: number;
  readonly eventId: string;
  /** As the Agent Server spelled it. */
  readonly timestamp: string;
  readonly kind: string;
  readonly body: { readonly [field: string]: unknown };
}

/** Transcripts of conversations. */
export interface EventLog {
  /**
   * Appends events in the given order; one that is known by id is skipped. Events of a deleted conversation are dropped.
   * Returns how many were new.
   * @throws ParleyError transcript_full: none of these is kept, because the transcript would be over its bound
   */
  append(
    conversationId: ConversationId,
    events: readonly {
      readonly id: string;
      readonly timestamp: string;
      readonly kind: string;
      readonly [field: string]: unknown;
    }[],
    receivedAt: number,
  ): Promise<number>;
  /** In sequence order. `limit` 1..1000. */
  events(
    conversationId: ConversationId,
    page: { readonly afterSequence: number; readonly limit: number; readonly kind?: string },
  ): Promise<readonly StoredEvent[]>;
  count(conversationId: ConversationId): Promise<number>;
  /** Epoch milliseconds at which the newest event was received; null when there is none. */
  lastReceivedAt(conversationId: ConversationId): Promise<number | null>;
}

/** What happened to a conversation or sandbox outside the agent: refusals, interruptions, archive failures. */
export interface LifecycleLog {
  record(event: LifecycleEvent, at: number): Promise<void>;
  lifecycleEvents(
    conversationId: ConversationId,
  ): Promise<readonly (LifecycleEvent & { readonly at: number })[]>;
}

/** What happened to a run as a whole: what a caller changed of it, and what it said once. */
export interface RunLog {
  /** In the order in which they were recorded. */
  runEvents(runId: RunId): Promise<readonly (LifecycleEvent & { readonly at: number })[]>;
}

/** Last activity per sandbox, coalesced; the idle watch reads it (D9). */
export interface ActivityStore {
  /** Keeps the latest instant only. */
  touch(sandboxId: SandboxId, at: number): Promise<void>;
  lastActivityAt(sandboxId: SandboxId): Promise<number | null>;
}

/** Facts that a start learned and later steps need. */
export interface WorkspaceFacts {
  readonly workingDir: string;
  /** Commit the workspace started from; null without a repository. */
  readonly baseCommit: string | null;
}

/** What is known of the workspace of a conversation. */
export interface WorkspaceStore {
  putFacts(conversationId: ConversationId, facts: WorkspaceFacts): Promise<void>;
  facts(conversationId: ConversationId): Promise<WorkspaceFacts | null>;
}

/** A durable archive of one generation of a workspace. */
export interface ArchiveRecord {
  readonly sandboxId: SandboxId;
  readonly generation: number;
  readonly blobKey: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Whether an archive of a workspace is durable (D12). Internal: no user route reaches it. */
export interface ArchiveStore {
  putArchive(record: ArchiveRecord): Promise<void>;
  archives(sandboxId: SandboxId): Promise<readonly Omit<ArchiveRecord, 'sandboxId'>[]>;
  /** By sandbox, oldest generation first; of sandboxes that no record knows, too. */
  allArchives(): Promise<readonly ArchiveRecord[]>;
}
