/**
 * The record of a sandbox whose machine has not projected a row yet.
 * Owns its first row, and its end when the machine never got an event; any projection of the machine is newer.
 */
import type { Transaction } from 'kysely';
import type { SandboxId, UserId } from '../../core/ids.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { bindToHost } from './host-of-sandbox.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { sandboxColumns } from '../records/projection-columns.ts';
import { projectRows } from '../records/projection-writer.ts';
import type { Tables } from '../schema/tables.ts';

const ADD = prepareQuery((db, row: ReturnType<typeof sandboxColumns>) =>
  db
    .insertInto('sandbox')
    .values(row)
    .onConflict((conflict) => conflict.column('sandbox_id').doNothing())
    .compile(),
);

/** Writes the row unless the sandbox is known. */
export async function recordReserved(
  transaction: Transaction<Tables>,
  sandbox: {
    readonly sandboxId: SandboxId;
    readonly userId: UserId;
    readonly createdBy: SandboxRow['createdBy'];
    readonly now: number;
    /** Of one that was taken from the warm pool. */
    readonly bootedAt?: number;
    /** Absent: bound to none. */
    readonly host?: string | undefined;
  },
): Promise<void> {
  const { sandboxId, userId, createdBy, now, bootedAt = null } = sandbox;
  const row: SandboxRow = {
    table: 'sandbox',
    sandboxId,
    userId,
    generation: 0,
    sequence: 0,
    status: 'STARTING',
    pauseReason: null,
    transition: null,
    detail: null,
    stale: false,
    createdAt: now,
    createdBy,
    sessionStartedAt: bootedAt,
    releasedAt: null,
    available: false,
    holdsSlot: true,
    archive: 'none',
  };
  await ADD.all(transaction, sandboxColumns(row));
  if (sandbox.host !== undefined) await bindToHost(transaction, sandboxId, sandbox.host);
}

const RESERVED = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('sandbox').select('body').where('sandbox_id', '=', id).where('generation', '=', 0).compile(),
);

/**
 * Ends a sandbox that was reserved and never made: its conversation left before it received its placement, so no
 * machine would ever give the slot back (D17). Does nothing once the machine has projected a row.
 */
export async function endReserved(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  id: SandboxId,
): Promise<void> {
  const found = await RESERVED.first(transaction, { id });
  if (found === undefined) return;
  const row = JSON.parse(found.body) as SandboxRow;
  const ended: SandboxRow = {
    ...row,
    sequence: 1,
    status: 'MISSING',
    detail: 'never_made',
    holdsSlot: false,
  };
  await projectRows(connection, transaction, [ended]);
}
