/**
 * The columns of hosts, as Kysely types them.
 * Owns no behaviour: ../schema/placement-tables.ts creates the table, and the two must say the same.
 */
import type { BigIntColumn, FlagColumn } from '../schema/column-types.ts';

export interface HostTable {
  readonly name: string;
  /** Id of the data directory in which its sandboxes lie. */
  readonly directory: string;
  readonly runtime: string;
  readonly capacity: BigIntColumn;
  /** JSON: a map of texts. */
  readonly labels: string;
  readonly version: string;
  readonly relay: string | null;
  /** Grows with every lease. */
  readonly fence: BigIntColumn;
  /** 1: it drains; 2: what was released there is archived and removed, too. */
  readonly draining: FlagColumn;
  /** Epoch milliseconds by the clock of the database, as the next one. */
  readonly heartbeat_at: BigIntColumn;
  readonly lease_until: BigIntColumn;
  /** Null while its lease is renewed, or ought to be. */
  readonly ended: 'stopped' | 'lost' | null;
}
