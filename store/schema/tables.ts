/**
 * Every table as Kysely types it.
 * Owns no behaviour: the columns are those with which `schema/` creates the tables, and those that later entries of the
 * schema add. What is only shown lives once, as JSON text in `body` or `state`; what is searched has its own column.
 */
import type { ColumnType, Generated } from 'kysely';
import type { ACCESS_TABLES, RATE_TABLES } from './access-tables.ts';
import type { ColumnKind } from './create-tables.ts';
import type { ENGINE_TABLES } from './engine-tables.ts';
import type { HOST_TABLES, PLACEMENT_TABLES } from './placement-tables.ts';
import type { RECORD_TABLES } from './record-tables.ts';
import type {
  CONFIGURATION_TABLES,
  DUTY_TABLES,
  SHARED_SPEND_TABLES,
  SPEND_LOSS_TABLES,
  SPEND_TABLES,
} from './spend-tables.ts';

type Defined = typeof ENGINE_TABLES &
  typeof RECORD_TABLES &
  typeof PLACEMENT_TABLES &
  typeof HOST_TABLES &
  typeof ACCESS_TABLES &
  typeof RATE_TABLES &
  typeof SPEND_TABLES &
  typeof SPEND_LOSS_TABLES &
  typeof SHARED_SPEND_TABLES &
  typeof DUTY_TABLES &
  typeof CONFIGURATION_TABLES;

/**
 * A 64-bit column: written as a number, read as whatever the driver makes of it.
 * `safeInteger` turns it back, and refuses what a number cannot hold exactly.
 */
type BigIntColumn = ColumnType<number | bigint | string, number, number>;
type NullableBigIntColumn = ColumnType<number | bigint | string | null, number | null, number | null>;
/** 0 or 1 in both dialects. */
type FlagColumn = number;

/** What a column is to Kysely, by its kind in the definition of its table. */
interface ColumnOfKind extends Record<ColumnKind, unknown> {
  readonly text: string;
  readonly 'text?': string | null;
  readonly bigint: BigIntColumn;
  readonly 'bigint?': NullableBigIntColumn;
  readonly 'bigint=0': ColumnType<number | bigint | string, number | undefined, number>;
  readonly flag: FlagColumn;
  readonly 'flag=0': Generated<FlagColumn>;
  readonly position: Generated<number | bigint | string>;
}

/** Columns that came later, and those whose values are known. */
interface Further {
  readonly sandbox: {
    /** 1 for one in `ERROR`, and for one that was found gone although its removal was not asked for. */
    readonly failed: ColumnOfKind['flag=0'];
    /** Where it lives; null: bound to no host. Set by placement, never by a projection. */
    readonly host: string | null;
    /** 1 once its host was given up: its machine hears so until it is `MISSING`. */
    readonly lost: ColumnOfKind['flag=0'];
  };
  /** 1 when its start has failed. */
  readonly conversation: { readonly failed: ColumnOfKind['flag=0'] };
  /** Whose room it takes; null: of no host. */
  readonly slot: { readonly host: string | null };
  readonly slot_line: {
    readonly machine: 'conversation' | 'sandbox';
    /** What its host must be, as JSON; null: any will do. */
    readonly host: string | null;
  };
  /** Where it is booted; null: bound to no host. */
  readonly warm_sandbox: { readonly host: string | null };
  readonly host: {
    readonly relay: string | null;
    /** Null while its lease is renewed, or ought to be. */
    readonly ended: 'stopped' | 'lost' | null;
  };
  readonly start_task: { readonly stage: string; readonly leased_until: BigIntColumn };
  readonly spend: {
    /** Of several that share the database; null where one serves alone. */
    readonly proxy_id: string | null;
    /** Whose budget the call was held to, where several proxies share it. */
    readonly run_id: string | null;
  };
  readonly proxy_peer: {
    /** `worker`, `proxy`, `run` or `api`. */
    readonly kind: string;
    readonly name: string;
    /** As `ConfigurationStanding` has them. */
    readonly configuration: NullableBigIntColumn;
    readonly configuration_refused: string | null;
  };
}

type ColumnsOf<Columns> = {
  readonly [Column in keyof Columns]: ColumnOfKind[Columns[Column] & keyof ColumnOfKind];
};

export type Tables = {
  readonly [Name in keyof Defined]: ColumnsOf<Defined[Name]['columns']> &
    (Name extends keyof Further ? Further[Name] : unknown);
};
