/**
 * How many bytes a transcript holds, added in version 15: a sandbox decides how much its agent says (D31).
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import { sql, type Kysely } from 'kysely';

export async function addTranscriptBytes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('transcript')
    .addColumn('bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  const length = sql`(select coalesce(sum(length(body)), 0) from event
    where event.conversation_id = transcript.conversation_id)`;
  await sql`update transcript set bytes = ${length}`.execute(db);
}
