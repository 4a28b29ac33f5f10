/**
 * The index of tags ends with the conversation since version 10: a page by tag stands in it in its order, and is all that is read of it.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import type { Kysely } from 'kysely';

export async function indexTagPages(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('conversation_tag_by_page')
    .on('conversation_tag')
    .columns(['user_id', 'key', 'value', 'created_at', 'conversation_id'])
    .execute();
  await db.schema.dropIndex('conversation_tag_by_user_id_key_value_created_at').execute();
}
