/**
 * The records that queries read, and the removal of a conversation.
 * Owns reading rows back as they were projected; writing them is `projection-writer.ts`.
 */
import type { Kysely, Transaction } from 'kysely';
import type { ConversationId, RunId, SandboxId } from '../core/ids.ts';
import type { ConversationRow, ProjectionRow, RunItemRow, RunRow, SandboxRow } from '../core/projection.ts';
import type { RecordStore } from '../ports/record-store.ts';
import { holdLock, type StoreConnection } from './connection.ts';
import { projectRows } from './projection-writer.ts';
import type { Tables } from './tables.ts';

export function recordStore(connection: StoreConnection): RecordStore {
  return {
    project: (rows) =>
      connection.write('write records', (transaction) => projectRows(connection, transaction, rows)),
    sandbox: (id) =>
      connection.read(`read the sandbox "${id}"`, (db) =>
        first<SandboxRow>(db.selectFrom('sandbox').select('body').where('sandbox_id', '=', id)),
      ),
    sandboxes: (filter) => connection.read('list the sandboxes', (db) => sandboxes(db, filter?.runId)),
    conversation: (id) =>
      connection.read(`read the conversation "${id}"`, (db) =>
        first<ConversationRow>(
          db.selectFrom('conversation').select('body').where('conversation_id', '=', id),
        ),
      ),
    conversations: (filter) =>
      connection.read('list the conversations', (db) => conversations(db, filter ?? {})),
    run: (id) =>
      connection.read(`read the run "${id}"`, (db) =>
        first<RunRow>(db.selectFrom('run').select('body').where('run_id', '=', id)),
      ),
    runs: () =>
      connection.read('list the runs', (db) =>
        all<RunRow>(
          db.selectFrom('run').select('body').orderBy('created_at', 'desc').orderBy('run_id', 'desc'),
        ),
      ),
    runItems: (id) =>
      connection.read(`list the items of the run "${id}"`, (db) =>
        all<RunItemRow>(
          db.selectFrom('run_item').select('body').where('run_id', '=', id).orderBy('position'),
        ),
      ),
    removeConversation: (id) =>
      connection.write(`remove the conversation "${id}"`, async (transaction) => {
        await holdLock(connection, transaction, 'removal');
        await removeConversation(transaction, id);
      }),
  };
}

/** Of a run: those its conversations and items name. */
function sandboxes(db: Kysely<Tables>, runId: RunId | undefined): Promise<readonly SandboxRow[]> {
  const listed = db.selectFrom('sandbox').select('body').orderBy('created_at').orderBy('sandbox_id');
  if (runId === undefined) return all<SandboxRow>(listed);
  return all<SandboxRow>(
    listed.where((where) =>
      where.or([
        where(
          'sandbox_id',
          'in',
          db.selectFrom('conversation').select('sandbox_id').where('run_id', '=', runId),
        ),
        where('sandbox_id', 'in', db.selectFrom('run_item').select('sandbox_id').where('run_id', '=', runId)),
      ]),
    ),
  );
}

function conversations(
  db: Kysely<Tables>,
  filter: { readonly runId?: RunId; readonly sandboxId?: SandboxId },
): Promise<readonly ConversationRow[]> {
  const { runId, sandboxId } = filter;
  return all<ConversationRow>(
    db
      .selectFrom('conversation')
      .select('body')
      .$if(runId !== undefined, (query) => query.where('run_id', '=', runId ?? ''))
      .$if(sandboxId !== undefined, (query) => query.where('sandbox_id', '=', sandboxId ?? ''))
      .orderBy('created_at')
      .orderBy('conversation_id'),
  );
}

/** The attachment stays for `detach`, which decides about the sandbox; it no longer counts. */
async function removeConversation(transaction: Transaction<Tables>, id: ConversationId): Promise<void> {
  await transaction
    .insertInto('tombstone')
    .values({ conversation_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const tables = [
    'conversation',
    'event',
    'transcript',
    'lifecycle_event',
    'workspace',
    'placement_decision',
  ] as const;
  for (const table of tables) {
    await transaction.deleteFrom(table).where('conversation_id', '=', id).execute();
  }
}

interface BodyQuery {
  execute(): Promise<{ readonly body: string }[]>;
  executeTakeFirst(): Promise<{ readonly body: string } | undefined>;
}

async function first<Row extends ProjectionRow>(query: BodyQuery): Promise<Row | null> {
  const row = await query.executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.body) as Row);
}

async function all<Row extends ProjectionRow>(query: BodyQuery): Promise<readonly Row[]> {
  const rows = await query.execute();
  return rows.map((row) => JSON.parse(row.body) as Row);
}
