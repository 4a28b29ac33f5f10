/**
 * Deleted conversations: what comes late for one is dropped (D11).
 * Owns the question; `record-store.ts` writes the tombstones.
 */
import type { ExpressionBuilder, Transaction } from 'kysely';
import type { ConversationId } from '../../core/ids.ts';
import { holdLock, type StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

const TOMBSTONE = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('tombstone').selectAll().where('conversation_id', '=', id).compile(),
);

/** Whether the conversation was deleted; the answer holds to the end of the transaction. */
export async function isDeleted(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  id: ConversationId,
): Promise<boolean> {
  await holdLock(connection, transaction, 'removal', 'shared');
  return (await TOMBSTONE.first(transaction, { id })) !== undefined;
}

/** For queries over attachments: attached now, and its conversation is not deleted (D16). */
export function isAttached(where: ExpressionBuilder<Tables, 'attachment'>) {
  const tombstone = where
    .selectFrom('tombstone')
    .select('tombstone.conversation_id')
    .whereRef('tombstone.conversation_id', '=', 'attachment.conversation_id');
  return where.and([where('attachment.detached', '=', 0), where.not(where.exists(tombstone))]);
}
