/**
 * Facts that a start learned about its workspace and later steps need.
 * Owns nothing but keeping them; must not know what they are used for.
 */
import type { WorkspaceFacts, WorkspaceStore } from '../../ports/record-store.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';
import { isDeleted } from '../engine/tombstone.ts';

const PUT = prepareQuery((db, row: Tables['workspace']) =>
  db
    .insertInto('workspace')
    .values(row)
    .onConflict((conflict) => conflict.column('conversation_id').doUpdateSet({ body: row.body }))
    .compile(),
);

const FACTS = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('workspace').select('body').where('conversation_id', '=', id).compile(),
);

export function workspaceStore(connection: StoreConnection): WorkspaceStore {
  return {
    async putFacts(conversationId, facts) {
      const body = JSON.stringify(facts);
      await connection.write(`store facts of the conversation "${conversationId}"`, async (transaction) => {
        if (await isDeleted(connection, transaction, conversationId)) return;
        await PUT.all(transaction, { conversation_id: conversationId, body });
      });
    },
    async facts(conversationId) {
      const row = await connection.read(`read facts of the conversation "${conversationId}"`, (db) =>
        FACTS.first(db, { id: conversationId }),
      );
      return row === undefined ? null : (JSON.parse(row.body) as WorkspaceFacts);
    },
  };
}
