/**
 * The record of a sandbox whose machine has not spoken yet.
 * Owns its first row; any projection of the machine is newer and replaces it.
 */
import type { Transaction } from 'kysely';
import type { SandboxId, UserId } from '../core/ids.ts';
import type { SandboxRow } from '../core/projection.ts';
import { prepareQuery } from './prepared-query.ts';
import { sandboxColumns } from './projection-columns.ts';
import type { Tables } from './tables.ts';

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
  },
): Promise<void> {
  const { sandboxId, userId, createdBy, now } = sandbox;
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
    sessionStartedAt: null,
    releasedAt: null,
    available: false,
    holdsSlot: true,
    archive: 'none',
  };
  await ADD.all(transaction, sandboxColumns(row));
}
