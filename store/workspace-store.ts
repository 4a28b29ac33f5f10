/**
 * Facts that a start learned about its workspace and later steps need.
 * Owns nothing but keeping them; must not know what they are used for.
 */
import type { WorkspaceFacts, WorkspaceStore } from '../ports/record-store.ts';
import type { StoreConnection } from './connection.ts';
import { isDeleted } from './tombstone.ts';

export function workspaceStore(connection: StoreConnection): WorkspaceStore {
  return {
    async putFacts(conversationId, facts) {
      const body = JSON.stringify(facts);
      await connection.write(`store facts of the conversation "${conversationId}"`, async (transaction) => {
        if (await isDeleted(connection, transaction, conversationId)) return;
        await transaction
          .insertInto('workspace')
          .values({ conversation_id: conversationId, body })
          .onConflict((conflict) => conflict.column('conversation_id').doUpdateSet({ body }))
          .execute();
      });
    },
    async facts(conversationId) {
      const row = await connection.read(`read facts of the conversation "${conversationId}"`, (db) =>
        db
          .selectFrom('workspace')
          .select('body')
          .where('conversation_id', '=', conversationId)
          .executeTakeFirst(),
      );
      return row === undefined ? null : (JSON.parse(row.body) as WorkspaceFacts);
    },
  };
}
