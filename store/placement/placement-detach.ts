/**
 * Leaving a sandbox: who is detached, and whether nobody is left in it (D11).
 * Owns that decision and its mark; inside a transaction that holds the placement lock.
 */
import type { Transaction } from 'kysely';
import { sandboxId, type ConversationId, type SandboxId } from '../../core/ids.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { endReserved } from './reserved-sandbox.ts';
import { leaveLine } from './slot-line.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

const DETACH = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .updateTable('attachment')
    .set({ detached: 1 })
    .where('conversation_id', '=', id)
    .returning('sandbox_id')
    .compile(),
);

const STILL_ATTACHED = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .selectFrom('attachment')
    .select('conversation_id')
    .where('sandbox_id', '=', id)
    .where(isAttached)
    .limit(1)
    .compile(),
);

const MARK_DRAINING = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .updateTable('sandbox')
    .set({ draining: 1 })
    .where('sandbox_id', '=', id)
    .where('created_by', '=', 'placement')
    .returning('sandbox_id')
    .compile(),
);

/** The decision about the sandbox and its mark are one transaction: no placement comes in between (D11). */
export async function detach(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  conversation: ConversationId,
): Promise<{ readonly sandboxId: SandboxId | null; readonly sandboxToRemove: boolean }> {
  await leaveLine(transaction, conversation);
  const detached = await DETACH.first(transaction, { id: conversation });
  if (detached === undefined) return { sandboxId: null, sandboxToRemove: false };
  const id = sandboxId(detached.sandbox_id);
  return { sandboxId: id, sandboxToRemove: await drainIfEmpty(connection, transaction, id) };
}

/** True when placement had made it and nobody is in it any more: nothing is placed there from now on. */
export async function drainIfEmpty(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  id: SandboxId,
): Promise<boolean> {
  const isEmpty = (await STILL_ATTACHED.first(transaction, { id })) === undefined;
  if (!isEmpty || (await MARK_DRAINING.first(transaction, { id })) === undefined) return false;
  await endReserved(connection, transaction, id);
  return true;
}
