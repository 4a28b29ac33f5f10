/**
 * The columns of every table, as Kysely types them.
 * Owns no behaviour: `schema/` creates the tables, and the two must say the same.
 * What is only shown lives once, as JSON text in `body` or `state`; what is searched has a column of its own.
 */
import type { Generated } from 'kysely';
import type { BigIntColumn, FlagColumn, NullableBigIntColumn } from './column-types.ts';
import type {
  DutyTable,
  ProxyPeerTable,
  ProxyRevisionTable,
  SpendAccountTable,
  SpendDailyTable,
  SpendLeaseTable,
  SpendLossTable,
  SpendTable,
} from '../spend/spend-tables.ts';
import type {
  ApiKeyTable,
  AuditTable,
  IdempotencyKeyTable,
  ProxyKeyTable,
  SecretTable,
} from '../access/access-columns.ts';
import type { PooledAttachmentColumns, PooledSandboxColumns } from '../placement/pool-columns.ts';
import type { TroubleTable } from '../records/trouble-table.ts';
import type { HostTable } from '../placement/host-table.ts';
import type { WarmSandboxTable } from '../placement/warm-sandbox-table.ts';

interface Stamped {
  readonly generation: BigIntColumn;
  readonly sequence: BigIntColumn;
}

interface Addressed {
  readonly machine: string;
  readonly id: string;
}

/** A batch of a driver that may not be durable with the driver yet. */
export interface JournalTable extends Addressed {
  readonly number: BigIntColumn;
  readonly inputs: string;
}

export interface EntityTable extends Addressed {
  readonly deadline: NullableBigIntColumn;
  readonly done: FlagColumn;
  /** Whole, or the head of it when `lists` is there. */
  readonly state: string;
  /** JSON: the length of each list that is kept in parts, by name; null when the state is whole. */
  readonly lists: string | null;
}

/** One element of a list of an entity's state. */
export interface EntityPartTable extends Addressed {
  readonly list: string;
  readonly position: BigIntColumn;
  readonly state: string;
}

export interface OutboxTable extends Addressed {
  readonly command_id: string;
  readonly created_at: BigIntColumn;
  readonly attempt: BigIntColumn;
  readonly not_before: BigIntColumn;
  readonly command: string;
}

export interface InboxTable extends Addressed {
  readonly position: Generated<number | bigint | string>;
  readonly inbox_id: string;
  readonly accepted_at: BigIntColumn;
  readonly event: string;
}

export interface SandboxTable extends Stamped, PooledSandboxColumns {
  readonly sandbox_id: string;
  readonly user_id: string;
  readonly status: string;
  /** 1 for one in `ERROR`, and for one that was found gone although nobody had asked for it. */
  readonly failed: Generated<FlagColumn>;
  readonly available: FlagColumn;
  /** Set by `detach`, never by a projection. */
  readonly draining: Generated<FlagColumn>;
  /** Where it lives; null: bound to no host. Set by placement, never by a projection. */
  readonly host: Generated<string | null>;
  /** 1 once its host was given up: its machine hears so until it is `MISSING`. */
  readonly lost: Generated<FlagColumn>;
  readonly session_started_at: NullableBigIntColumn;
  readonly created_at: BigIntColumn;
  readonly created_by: string;
  readonly body: string;
}

export interface ConversationTable extends Stamped {
  readonly conversation_id: string;
  readonly user_id: string;
  readonly run_id: string | null;
  readonly sandbox_id: string | null;
  /** 1 when its start has failed. */
  readonly failed: Generated<FlagColumn>;
  /** 1 while its agent works, its start goes on or a message waits: such a sandbox is not paused for room (D17). */
  readonly at_work: FlagColumn;
  readonly created_at: BigIntColumn;
  readonly updated_at: BigIntColumn;
  /** As text of a column: what a column cannot hold is replaced. Empty for none. */
  readonly title: string;
  /** Empty for none, as the next one. */
  readonly sandbox_status: string;
  readonly execution_status: string;
  readonly body: string;
}

export interface RunTable extends Stamped {
  readonly run_id: string;
  readonly user_id: string;
  readonly created_at: BigIntColumn;
  readonly body: string;
}

export interface RunItemTable extends Stamped {
  /** Order of first projection. */
  readonly position: Generated<number | bigint | string>;
  readonly run_id: string;
  readonly key: string;
  readonly sandbox_id: string | null;
  readonly body: string;
}

export interface AttachmentTable extends PooledAttachmentColumns {
  readonly conversation_id: string;
  readonly sandbox_id: string;
  readonly attached_at: BigIntColumn;
  /** 1 once detached: the row stays, so that a repeated `detach` gives the same answer. */
  readonly detached: FlagColumn;
}

export interface DecisionTable {
  readonly conversation_id: string;
  readonly created: FlagColumn;
  readonly body: string;
}

export interface SlotTable {
  readonly sandbox_id: string;
  readonly user_id: string;
  readonly taken_at: BigIntColumn;
  /** Whose room it takes; null: of no host. */
  readonly host: string | null;
}

export interface SlotLineTable {
  /** Order of arrival. */
  readonly position: Generated<number | bigint | string>;
  readonly waiter_id: string;
  readonly machine: 'conversation' | 'sandbox';
  readonly user_id: string;
  /** When it last asked: who has not for long is not there any more. */
  readonly asked_at: BigIntColumn;
  /** What its host must be, as JSON; null: any will do. */
  readonly host: string | null;
}

/** Head of a transcript: its row is what concurrent appends queue on. */
export interface TranscriptTable {
  readonly conversation_id: string;
  readonly last_sequence: BigIntColumn;
  readonly last_received_at: NullableBigIntColumn;
  /** Of the bodies as they are stored. */
  readonly bytes: BigIntColumn;
}

export interface EventTable {
  readonly conversation_id: string;
  readonly sequence: BigIntColumn;
  readonly event_id: string;
  readonly timestamp: string;
  readonly kind: string;
  readonly body: string;
}

export interface LifecycleTable {
  readonly position: Generated<number | bigint | string>;
  readonly conversation_id: string | null;
  readonly machine: string;
  readonly id: string;
  readonly code: string;
  readonly detail: string;
  readonly at: BigIntColumn;
}

export interface ArchiveTable {
  readonly sandbox_id: string;
  readonly generation: BigIntColumn;
  readonly blob_key: string;
  readonly sha256: string;
  readonly bytes: BigIntColumn;
  readonly at: BigIntColumn;
}

/** What a search by tag goes through; the tags themselves are in the conversation's row. */
export interface ConversationTagTable {
  readonly conversation_id: string;
  readonly key: string;
  readonly value: string;
  readonly user_id: string;
  readonly created_at: BigIntColumn;
}

export interface StartTaskTable {
  readonly task_id: string;
  readonly user_id: string;
  readonly conversation_id: string;
  readonly created_at: BigIntColumn;
  readonly idempotency_key: string | null;
  readonly delivered: FlagColumn;
  readonly body: string;
  readonly stage: string;
  readonly leased_until: BigIntColumn;
}

export interface Tables {
  readonly entity: EntityTable;
  readonly entity_part: EntityPartTable;
  readonly outbox: OutboxTable;
  readonly inbox: InboxTable;
  readonly journal: JournalTable;
  readonly sandbox: SandboxTable;
  readonly conversation: ConversationTable;
  readonly run: RunTable;
  readonly run_item: RunItemTable;
  readonly tombstone: { readonly conversation_id: string };
  readonly attachment: AttachmentTable;
  readonly placement_decision: DecisionTable;
  readonly slot: SlotTable;
  readonly slot_line: SlotLineTable;
  readonly activity: { readonly sandbox_id: string; readonly last_activity_at: BigIntColumn };
  readonly workspace: { readonly conversation_id: string; readonly body: string };
  readonly archive: ArchiveTable;
  readonly plan: { readonly run_id: string; readonly hash: string; readonly body: string };
  readonly transcript: TranscriptTable;
  readonly event: EventTable;
  readonly lifecycle_event: LifecycleTable;
  readonly spend: SpendTable;
  readonly spend_daily: SpendDailyTable;
  readonly spend_loss: SpendLossTable;
  readonly spend_account: SpendAccountTable;
  readonly spend_lease: SpendLeaseTable;
  readonly proxy_peer: ProxyPeerTable;
  readonly proxy_revision: ProxyRevisionTable;
  readonly duty: DutyTable;
  readonly configuration: { readonly version: BigIntColumn; readonly text: string; readonly at: BigIntColumn };
  readonly proxy_key: ProxyKeyTable;
  readonly secret: SecretTable;
  readonly conversation_tag: ConversationTagTable;
  readonly start_task: StartTaskTable;
  readonly rate_bucket: {
    readonly bucket: string;
    readonly tokens: BigIntColumn;
    readonly at: BigIntColumn;
  };
  readonly api_key: ApiKeyTable;
  readonly idempotency_key: IdempotencyKeyTable;
  readonly document: {
    readonly user_id: string;
    readonly kind: string;
    readonly name: string;
    readonly body: string;
  };
  readonly audit: AuditTable;
  readonly installation: { readonly name: string; readonly value: string };
  readonly warm_sandbox: WarmSandboxTable;
  readonly host: HostTable;
  readonly trouble: TroubleTable;
}
