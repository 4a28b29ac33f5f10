/**
 * The columns of the warm pool, as Kysely types them.
 * Owns no behaviour: ../schema/placement-tables.ts creates the table, and the two must say the same.
 */
import type { BigIntColumn, NullableBigIntColumn } from '../schema/column-types.ts';

/** A sandbox that is booted before anybody asks; it stays as `claimed`, so that a repeated request finds it again. */
export interface WarmSandboxTable {
  readonly sandbox_id: string;
  /** `booting`, `ready`, `leaving` or `claimed`. */
  readonly state: string;
  readonly spec: string;
  readonly reserved_at: BigIntColumn;
  readonly booted_at: NullableBigIntColumn;
  /** Id that the claimant's sandbox would have had, had it been a new one; null until it is claimed. */
  readonly claim: string | null;
  /** Where it is booted; null: bound to no host. */
  readonly host: string | null;
}
