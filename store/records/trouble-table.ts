/**
 * The columns of current trouble, as Kysely types them.
 * Owns no behaviour: ../schema/engine-tables.ts creates the table, and the two must say the same.
 */
import type { BigIntColumn, FlagColumn } from '../schema/column-types.ts';

/** What is tried again; `is_over` keeps a late word from bringing it back. */
export interface TroubleTable {
  readonly machine: string;
  readonly id: string;
  readonly what: string;
  /** Empty where it is the entity's own. */
  readonly item: string;
  readonly cause: string;
  readonly since: BigIntColumn;
  readonly tries: BigIntColumn;
  readonly next_at: BigIntColumn;
  readonly at: BigIntColumn;
  readonly is_over: FlagColumn;
}
