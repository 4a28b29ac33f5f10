/**
 * The end of a host's lease: its worker has stopped in order, or the other workers give it up (D33).
 * Owns that a loss is one transaction: the fence that refuses the worker, which sandboxes are lost with it, and what of
 * the warm pool is removed. The machines of those sandboxes decide what follows.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import { sandboxId } from '../../core/ids.ts';
import type { HostLease, HostLeases, LostSandbox } from '../../ports/host-leases.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { Tables } from '../schema/tables.ts';
import { storeNow } from './store-now.ts';

/** Does not end a lease that another worker has taken since. */
export async function stop(transaction: Transaction<Tables>, { name, fence }: HostLease): Promise<void> {
  await transaction
    .updateTable('host')
    .set({ lease_until: storeNow(transaction), ended: 'stopped' })
    .where('name', '=', name)
    .where('fence', '=', fence)
    .where('ended', 'is', null)
    .execute();
}

type Loss = Parameters<HostLeases['giveUp']>[0];

/** Null when it was renewed, stopped or given up meanwhile; else how many sandboxes are lost. */
export async function giveUp(
  transaction: Transaction<Tables>,
  { name, fence, silentMs, alsoStopped = false }: Loss,
): Promise<number | null> {
  const given = await transaction
    .updateTable('host')
    .set({ fence: fence + 1, ended: 'lost' })
    .where('name', '=', name)
    .where('fence', '=', fence)
    .where(({ eb, or }) =>
      or([eb('ended', 'is', null), ...(alsoStopped ? [eb('ended', '=', 'stopped')] : [])]),
    )
    .where('lease_until', '<=', sql<number>`${storeNow(transaction)} - ${sql.lit(silentMs)}`)
    .returning('name')
    .executeTakeFirst();
  if (given === undefined) return null;
  await forgetWarm(transaction, name);
  const { numUpdatedRows } = await transaction
    .updateTable('sandbox')
    .set({ lost: 1 })
    .where('host', '=', name)
    .where('status', '!=', 'MISSING')
    .executeTakeFirst();
  return safeInteger(numUpdatedRows);
}

/** No user has owned them, so nothing is recorded of them. One that was claimed belongs to its user. */
async function forgetWarm(transaction: Transaction<Tables>, host: string): Promise<void> {
  const gone = await transaction
    .deleteFrom('warm_sandbox')
    .where('host', '=', host)
    .where('state', 'in', ['booting', 'ready', 'leaving'])
    .returning('sandbox_id')
    .execute();
  for (const { sandbox_id: id } of gone)
    await transaction.deleteFrom('slot').where('sandbox_id', '=', id).execute();
}

/** Lost sandboxes whose machine has not ended them yet, the oldest first. */
export async function lostSandboxes(db: Kysely<Tables>, max: number): Promise<readonly LostSandbox[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'host'])
    .where('lost', '=', 1)
    .where('status', '!=', 'MISSING')
    .orderBy('created_at')
    .orderBy('sandbox_id')
    .limit(max)
    .execute();
  return rows.map(({ sandbox_id: id, host }) => ({ sandboxId: sandboxId(id), host: host ?? '' }));
}
