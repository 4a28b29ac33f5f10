/**
 * What the application API added to the schema: columns that users search by, and tables of its own.
 * Part of a released migration: it never changes, later versions alter what it made.
 */
import { sql, type Kysely } from 'kysely';
import { columnText } from './column-value.ts';
import { columnType, createTables, type TableDefinition } from './create-tables.ts';

const TABLES: Readonly<Record<string, TableDefinition>> = {
  conversation_tag: {
    columns: { conversation_id: 'text', key: 'text', value: 'text', user_id: 'text', created_at: 'bigint' },
    primaryKey: ['conversation_id', 'key'],
    indexes: [['user_id', 'key', 'value', 'created_at']],
  },
  start_task: {
    columns: {
      task_id: 'text',
      user_id: 'text',
      conversation_id: 'text',
      created_at: 'bigint',
      idempotency_key: 'text?',
      delivered: 'flag',
      body: 'text',
    },
    primaryKey: ['task_id'],
    indexes: [['user_id', 'created_at', 'task_id'], ['conversation_id'], ['delivered']],
  },
  api_key: {
    columns: {
      key_id: 'position',
      user_id: 'text',
      sha256: 'text',
      name: 'text?',
      scope: 'text',
      created_at: 'bigint',
      not_before: 'bigint?',
      expires_at: 'bigint?',
      last_used_at: 'bigint?',
    },
    unique: ['sha256'],
    indexes: [['user_id']],
  },
  document: {
    columns: { user_id: 'text', kind: 'text', name: 'text', body: 'text' },
    primaryKey: ['user_id', 'kind', 'name'],
  },
  audit: {
    columns: {
      position: 'position',
      at: 'bigint',
      user_id: 'text?',
      key_id: 'bigint?',
      action: 'text',
      about: 'text',
      status: 'bigint',
    },
  },
};

export async function addApplication(db: Kysely<unknown>, isPostgres: boolean): Promise<void> {
  const text = columnType('text', isPostgres);
  const bigint = columnType('bigint', isPostgres);
  for (const column of ['title', 'sandbox_status', 'execution_status']) {
    await addColumn(db, column, sql`${text} not null default ''`);
  }
  await addColumn(db, 'updated_at', sql`${bigint} not null default 0`);
  await createTables(db, TABLES, isPostgres);
  await index(db, 'conversation', ['user_id', 'created_at', 'conversation_id']);
  await index(db, 'conversation', ['user_id', 'updated_at', 'conversation_id']);
  await index(db, 'conversation', ['user_id', 'title', 'conversation_id']);
  await index(db, 'sandbox', ['user_id', 'created_at', 'sandbox_id']);
  await sql`create unique index start_task_by_idempotency_key on start_task (user_id, idempotency_key)`.execute(
    db,
  );
  await fillColumns(db);
}

async function addColumn(db: Kysely<unknown>, name: string, type: ReturnType<typeof sql>): Promise<void> {
  await sql`alter table conversation add column ${sql.ref(name)} ${type}`.execute(db);
}

async function index(db: Kysely<unknown>, table: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns.join('_')}`)
    .on(table)
    .columns([...columns])
    .execute();
}

interface OldRow {
  readonly body: string;
}

/** Fields of a record that the new columns repeat, as version 1 wrote them. */
interface OldConversation {
  readonly conversationId: string;
  readonly userId: string;
  readonly title: string | null;
  readonly sandboxStatus: string | null;
  readonly executionStatus: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Rows of before get what a projection would write now. */
async function fillColumns(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<OldRow>`select body from conversation`.execute(db);
  for (const { body } of rows) {
    const row = JSON.parse(body) as OldConversation;
    const { conversationId: id, userId, createdAt } = row;
    await sql`update conversation set title = ${columnText(row.title ?? '')}, updated_at = ${row.updatedAt},
      sandbox_status = ${row.sandboxStatus ?? ''}, execution_status = ${row.executionStatus ?? ''}
      where conversation_id = ${id}`.execute(db);
    for (const [key, value] of Object.entries(row.tags)) {
      await sql`insert into conversation_tag (conversation_id, key, value, user_id, created_at)
        values (${id}, ${columnText(key)}, ${columnText(value)}, ${userId}, ${createdAt})`.execute(db);
    }
  }
}
