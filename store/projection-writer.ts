/**
 * Writes projection rows so that an older one never wins, inside a transaction of the caller.
 * Owns the comparison by (generation, sequence) in SQL and what hangs on it: slots given back, tombstones respected.
 */
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { ConversationRow, ProjectionRow, SandboxRow } from '../core/projection.ts';
import { isNewer } from '../core/snapshot.ts';
import { holdLock, type StoreConnection } from './connection.ts';
import { conversationColumns, runColumns, runItemColumns, sandboxColumns } from './projection-columns.ts';
import { keyChunks, rowChunks } from './row-chunks.ts';
import type { Tables } from './tables.ts';

/** Writes the rows; of several for one key the newest counts. */
export async function projectRows(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  rows: readonly ProjectionRow[],
): Promise<void> {
  const newest = newestByKey(rows);
  await projectConversations(
    connection,
    transaction,
    newest.filter((row) => row.table === 'conversation'),
  );
  await projectSandboxes(
    transaction,
    newest.filter((row) => row.table === 'sandbox'),
  );
  await upsert(transaction, {
    table: 'run',
    key: ['run_id'],
    rows: newest.filter((row) => row.table === 'run').map(runColumns),
  });
  await upsert(transaction, {
    table: 'run_item',
    key: ['run_id', 'key'],
    rows: newest.filter((row) => row.table === 'run_item').map(runItemColumns),
  });
}

/** One statement may not touch a row twice. Keeps the order of first mention, which is the order of run items. */
function newestByKey(rows: readonly ProjectionRow[]): readonly ProjectionRow[] {
  const newest = new Map<string, ProjectionRow>();
  for (const row of rows) {
    const key = projectionKey(row);
    const kept = newest.get(key);
    if (kept === undefined || !isNewer(kept, row)) newest.set(key, row);
  }
  return [...newest.values()];
}

function projectionKey(row: ProjectionRow): string {
  switch (row.table) {
    case 'sandbox':
      return `sandbox/${row.sandboxId}`;
    case 'conversation':
      return `conversation/${row.conversationId}`;
    case 'run':
      return `run/${row.runId}`;
    case 'run_item':
      return `run_item/${row.runId}/${row.key}`;
  }
}

/** A deleted conversation stays deleted: a late row never brings it back (D11). */
async function projectConversations(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  rows: readonly ConversationRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await holdLock(connection, transaction, 'removal', 'shared');
  const deleted = new Set<string>();
  for (const keys of keyChunks(rows.map((row) => row.conversationId))) {
    const found = await transaction
      .selectFrom('tombstone')
      .selectAll()
      .where('conversation_id', 'in', keys)
      .execute();
    for (const tombstone of found) deleted.add(tombstone.conversation_id);
  }
  const living = rows.filter((row) => !deleted.has(row.conversationId));
  await upsert(transaction, {
    table: 'conversation',
    key: ['conversation_id'],
    rows: living.map(conversationColumns),
  });
}

/** A row that won and holds no slot gives it back at once, so that the place is free with the same commit (D17). */
async function projectSandboxes(
  transaction: Transaction<Tables>,
  rows: readonly SandboxRow[],
): Promise<void> {
  const slotless = new Set<string>(rows.filter((row) => !row.holdsSlot).map((row) => row.sandboxId));
  const written = await upsert(transaction, {
    table: 'sandbox',
    key: ['sandbox_id'],
    rows: rows.map(sandboxColumns),
  });
  const freed = written.map((row) => row['sandbox_id'] ?? '').filter((id) => slotless.has(id));
  for (const keys of keyChunks(freed)) {
    await transaction.deleteFrom('slot').where('sandbox_id', 'in', keys).execute();
  }
}

interface Upsert {
  readonly table: 'sandbox' | 'conversation' | 'run' | 'run_item';
  readonly key: readonly string[];
  readonly rows: readonly Readonly<Record<string, string | number | null>>[];
}

/** Returns the keys of the rows that were written: those that were new or newer. */
async function upsert(
  transaction: Transaction<Tables>,
  { table, key, rows }: Upsert,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const written: Readonly<Record<string, string>>[] = [];
  for (const chunk of rowChunks(rows)) {
    const columns = Object.keys(chunk[0] ?? {});
    const changed = columns.filter((column) => !key.includes(column));
    const statement = sql<Record<string, string>>`insert into ${sql.table(table)} (${refs(columns)})
      values ${sql.join(chunk.map((row) => sql`(${sql.join(Object.values(row))})`))}
      on conflict (${refs(key)}) do update set ${sql.join(changed.map(takeNew))}
      where excluded.generation > ${sql.ref(`${table}.generation`)}
      or (excluded.generation = ${sql.ref(`${table}.generation`)} and excluded.sequence > ${sql.ref(`${table}.sequence`)})
      returning ${refs(key)}`;
    const { rows: returned } = await statement.execute(transaction);
    written.push(...returned);
  }
  return written;
}

function refs(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)));
}

function takeNew(column: string): RawBuilder<unknown> {
  return sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`;
}
