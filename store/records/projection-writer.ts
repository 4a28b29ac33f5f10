/**
 * Writes projection rows so that an older one never wins, inside a transaction of the caller.
 * Owns the comparison by (generation, sequence) in SQL and its consequences: slots given back, tombstones respected.
 */
import { sql, type RawBuilder, type Transaction, type Insertable } from 'kysely';
import type { ConversationRow, ProjectionRow, SandboxRow } from '../../core/machine/projection.ts';
import { isNewer } from '../../core/machine/snapshot.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import { holdLock, type StoreConnection } from '../sql/connection.ts';
import { conversationColumns, runColumns, runItemColumns, sandboxColumns } from './projection-columns.ts';
import { giveBackPlaces } from '../placement/placement-pool.ts';
import { prepareRows } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

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
  await PUT_RUNS.execute(transaction, newest.filter((row) => row.table === 'run').map(runColumns));
  const items = newest.filter((row) => row.table === 'run_item');
  await PUT_RUN_ITEMS.execute(transaction, items.map(runItemColumns));
  await giveBackPlaces(transaction, items);
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

const storedRecords = (hold: RawBuilder<unknown>) =>
  prepareRows((db, keys: readonly { readonly id: string }[]) => {
    const ids = sql.join(keys.map(({ id }) => id));
    return sql<StoredRecord>`select * from (select conversation_id, generation, sequence, body
      from conversation where conversation_id in (${ids}) ${hold}) as living
      union all select conversation_id, null, null, null
      from tombstone where conversation_id in (${ids})`.compile(db);
  });

const STORED = { sqlite: storedRecords(sql``), postgres: storedRecords(sql`for update`) };

/** A deleted conversation stays deleted: a late row never brings it back (D11). */
async function projectConversations(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  rows: readonly ConversationRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const keys = rows.map(({ conversationId: id }) => ({ id }));
  const read = () => STORED[connection.dialect].execute(transaction, keys);
  // An existing record cannot be removed before this transaction ends. A missing one needs the lock;
  // several need it, too, so that no removal waits for one of them while another waits for the removal.
  let stored = keys.length === 1 ? await read() : [];
  if (stored.length === 0) {
    await holdLock(connection, transaction, 'removal', 'shared');
    stored = await read();
  }
  const deleted = new Set(stored.filter(({ body }) => body === null).map((row) => row.conversation_id));
  const living = rows.filter((row) => !deleted.has(row.conversationId));
  await writeTags(transaction, living, stored);
  await PUT_CONVERSATIONS.execute(transaction, living.map(conversationColumns));
}

const deletion = (table: 'slot' | 'slot_line', column: 'sandbox_id' | 'waiter_id') =>
  prepareRows((db, keys: readonly { readonly id: string }[]) =>
    db
      .deleteFrom(table)
      .where(
        sql.ref(column),
        'in',
        keys.map(({ id }) => id),
      )
      .compile(),
  );

const FREE_SLOTS = deletion('slot', 'sandbox_id');
const LEAVE_LINE = deletion('slot_line', 'waiter_id');

/** A row that won and holds no slot gives it back at once, so that the place is free with the same commit (D17). */
async function projectSandboxes(
  transaction: Transaction<Tables>,
  rows: readonly SandboxRow[],
): Promise<void> {
  const slotless = new Set<string>(rows.filter((row) => !row.holdsSlot).map((row) => row.sandboxId));
  const written = await PUT_SANDBOXES.execute(transaction, rows.map(sandboxColumns));
  const freed = written.map((row) => row['sandbox_id'] ?? '').filter((id) => slotless.has(id));
  const keys = freed.map((id) => ({ id }));
  await FREE_SLOTS.execute(transaction, keys);
  // A resume that was given up needs no slot.
  await LEAVE_LINE.execute(transaction, keys);
}

interface Upsert {
  /** Whether the keys of the rows that were new or newer are returned. */
  readonly returns: boolean;
  readonly table: 'sandbox' | 'conversation' | 'run' | 'run_item';
  readonly key: readonly string[];
}

function upsertNewer<Row extends { readonly [Name in keyof Row]: string | number | null }>({
  table,
  key,
  returns,
}: Upsert) {
  return prepareRows((db, rows: readonly Row[]) => {
    const columns = Object.keys(rows[0] ?? {});
    const changed = columns.filter((column) => !key.includes(column));
    return sql<Record<string, string>>`insert into ${sql.table(table)} (${refs(columns)})
      values ${sql.join(rows.map((row) => sql`(${sql.join(Object.values(row))})`))}
      on conflict (${refs(key)}) do update set ${sql.join(changed.map(takeNew))}
      where excluded.generation > ${sql.ref(`${table}.generation`)}
      or (excluded.generation = ${sql.ref(`${table}.generation`)} and excluded.sequence > ${sql.ref(`${table}.sequence`)})
      ${returns ? sql`returning ${refs(key)}` : sql``}`.compile(db);
  });
}

function refs(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)));
}

function takeNew(column: string): RawBuilder<unknown> {
  return sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`;
}

const PUT_CONVERSATIONS = upsertNewer<ReturnType<typeof conversationColumns>>({
  table: 'conversation',
  key: ['conversation_id'],
  returns: false,
});
const PUT_SANDBOXES = upsertNewer<ReturnType<typeof sandboxColumns>>({
  table: 'sandbox',
  key: ['sandbox_id'],
  returns: true,
});
const PUT_RUNS = upsertNewer<ReturnType<typeof runColumns>>({
  table: 'run',
  key: ['run_id'],
  returns: false,
});
const PUT_RUN_ITEMS = upsertNewer<ReturnType<typeof runItemColumns>>({
  table: 'run_item',
  key: ['run_id', 'key'],
  returns: false,
});

type Keys = readonly { readonly id: string }[];

/** A record as it is stored; for a deleted conversation (D11) only its id. */
interface StoredRecord {
  readonly conversation_id: string;
  readonly generation: number | bigint | string | null;
  readonly sequence: number | bigint | string | null;
  readonly body: string | null;
}

const REMOVE = prepareRows((db, keys: Keys) =>
  db
    .deleteFrom('conversation_tag')
    .where(
      'conversation_id',
      'in',
      keys.map(({ id }) => id),
    )
    .compile(),
);

const ADD = prepareRows((db, rows: readonly Insertable<Tables['conversation_tag']>[]) =>
  db.insertInto('conversation_tag').values(rows).compile(),
);

/** To be called before the records themselves are written, in the same transaction, with those that were there. */
async function writeTags(
  transaction: Transaction<Tables>,
  rows: readonly ConversationRow[],
  stored: readonly StoredRecord[],
): Promise<void> {
  const known = new Map(stored.map((row) => [row.conversation_id, row]));
  const changed = rows.filter((row) => {
    const { generation = null, sequence = null, body = null } = known.get(row.conversationId) ?? {};
    if (generation === null || sequence === null || body === null) return Object.keys(row.tags).length > 0;
    const stamp = { generation: safeInteger(generation), sequence: safeInteger(sequence) };
    return isNewer(row, stamp) && !hasTags(body, row.tags);
  });
  await REMOVE.execute(
    transaction,
    changed.map(({ conversationId: id }) => ({ id })),
  );
  await ADD.execute(transaction, changed.flatMap(tagRows));
}

/** Tags are written with every record, and almost never change: comparing the text avoids parsing it. */
function hasTags(body: string, tags: ConversationRow['tags']): boolean {
  return body.includes(`"tags":${JSON.stringify(tags)},`);
}

function tagRows({ conversationId, userId, createdAt, tags }: ConversationRow) {
  return Object.entries(tags).map(([key, value]) => ({
    conversation_id: conversationId,
    key: columnText(key),
    value: columnText(value),
    user_id: userId,
    created_at: createdAt,
  }));
}
