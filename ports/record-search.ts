/**
 * What users query of the records: their own, by id, by filter, page by page.
 * Owns the interface; every call names the user, so that a foreign record looks like a missing one (D4).
 */
import type { ConversationId, RunId, SandboxId, UserId } from '../core/ids.ts';
import type { ConversationRow, RunItemRow, RunRow, SandboxRow } from '../core/machine/projection.ts';
import type { ExecutionStatus, SandboxStatus } from '../core/status.ts';

/** Every field narrows; instants are epoch milliseconds, `from` inclusive and `before` exclusive. */
export interface ConversationFilter {
  /** Anywhere in the title; letters of ASCII match in either case. */
  readonly titleContains?: string;
  readonly createdFrom?: number;
  readonly createdBefore?: number;
  readonly updatedFrom?: number;
  readonly updatedBefore?: number;
  readonly sandboxId?: SandboxId;
  readonly sandboxStatus?: SandboxStatus;
  readonly executionStatus?: ExecutionStatus;
  /** All of them. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** Every field narrows. */
export interface SandboxFilter {
  /** One of them. */
  readonly statuses?: readonly SandboxStatus[];
  /** At the beginning of the id. */
  readonly idBegins?: string;
}

/** By what conversations can be ordered. */
export const CONVERSATION_ORDERS = ['CREATED_AT', 'UPDATED_AT', 'TITLE'] as const;

/** Where a page begins: behind the row of this value and id. */
export interface Cursor {
  readonly value: string | number;
  readonly id: string;
}

/** One page in one order. */
export interface PageRequest {
  readonly after: Cursor | null;
  /** 1..100 */
  readonly limit: number;
  readonly descending: boolean;
}

/** A page of conversations. */
export interface ConversationPageRequest extends PageRequest {
  readonly order: (typeof CONVERSATION_ORDERS)[number];
}

/** The sums of the calls of one conversation, by the proxy's rows. */
export interface ConversationUsage {
  readonly conversationId: ConversationId;
  readonly modelName: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly costNanoUsd: number;
}

/** A conversation with what its record shows besides itself. A store may give the same object again while nothing changed. */
export interface FullConversation {
  readonly row: ConversationRow;
  /** As it is now; null without one. */
  readonly sandbox: SandboxRow | null;
  /** Null when no call was made. */
  readonly usage: ConversationUsage | null;
}

/** A conversation with what is shown beside it. */
export interface PagedConversation {
  readonly full: FullConversation;
  /** What the page behind it begins with. */
  readonly cursor: Cursor;
}

/** Every field narrows. */
export interface RunFilter {
  /** The job's. */
  readonly name?: string;
  readonly state?: 'open' | 'finished';
}

/** An item of a run and its place in the plan. */
export interface PlacedItem {
  readonly row: RunItemRow;
  readonly position: number;
}

/** Lists of records by filter, paged by cursors. */
export interface RecordSearch {
  /** In their order, each with what is shown beside it, of one moment. */
  conversationPage(
    userId: UserId,
    filter: ConversationFilter,
    page: ConversationPageRequest,
  ): Promise<readonly PagedConversation[]>;
  countConversations(userId: UserId, filter: ConversationFilter): Promise<number>;
  /** Null where there is no such record, or it is another user's. */
  conversationsById(
    userId: UserId,
    ids: readonly ConversationId[],
  ): Promise<readonly (ConversationRow | null)[]>;
  /** As `conversationsById`, each with what is shown beside it, of one moment. At most 128. */
  fullConversations(
    userId: UserId,
    ids: readonly ConversationId[],
  ): Promise<readonly (FullConversation | null)[]>;
  /** By creation. */
  sandboxes(userId: UserId, page: PageRequest, filter?: SandboxFilter): Promise<readonly SandboxRow[]>;
  countSandboxes(userId: UserId, filter: SandboxFilter): Promise<number>;
  sandboxesById(userId: UserId, ids: readonly SandboxId[]): Promise<readonly (SandboxRow | null)[]>;
  /** Those made through the API whose machine never began: the process died in between. */
  sandboxesNeverMade(): Promise<readonly SandboxRow[]>;
  /**
   * One sandbox with a runtime or files that the embedded engine keeps, and one that it does not: then another engine
   * does. Null where there is none.
   */
  liveSandboxes(): Promise<{ readonly embedded: SandboxId | null; readonly elsewhere: SandboxId | null }>;
  /** Of one user, or of all users; by creation. The filter applies before the page. */
  runs(page: PageRequest, userId: UserId | null, filter?: RunFilter): Promise<readonly RunRow[]>;
  /** By their position, which is the order of the plan; the id of the cursor is the key. */
  runItems(id: RunId, page: PageRequest): Promise<readonly PlacedItem[]>;
  /** Slots that are taken at this moment (D17). */
  slotsTaken(userId: UserId): Promise<{ readonly user: number; readonly installation: number }>;
}
