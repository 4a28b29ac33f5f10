/**
 * A user's own records by id, by filter and page by page.
 * Owns the queries; each is answered from an index that begins with the user, so that no page grows with other people's rows.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { sandboxId, type ConversationId, type SandboxId, type UserId } from '../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../core/projection.ts';
import type {
  ConversationFilter,
  ConversationPageRequest,
  PagedConversation,
  PageRequest,
  RecordSearch,
} from '../ports/record-search.ts';
import { columnText, safeInteger } from './column-value.ts';
import type { StoreConnection } from './connection.ts';
import { fullConversations, fullOf, selectFull } from './full-conversations.ts';
import { behind, ordered, type Bounds } from './keyset.ts';
import { titleColumn } from './projection-columns.ts';
import { runItemPage, runPage } from './run-pages.ts';
import type { Tables } from './tables.ts';

type Condition = RawBuilder<unknown>;

interface Body {
  readonly body: string;
}

export function recordSearch(connection: StoreConnection): RecordSearch {
  const read = <T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
    connection.read('search the records', work);
  return {
    conversationPage: (userId, filter, page) =>
      read((db) => conversationPage(db, sourceOf(connection, userId, { filter, page }), page)),
    countConversations: (userId, filter) => read((db) => count(db, conditionsOf(connection, userId, filter))),
    conversationsById: (userId, ids) =>
      read((db) => byIds<ConversationRow>(db, 'conversation', { userId, ids })),
    sandboxes: (userId, page) => read((db) => sandboxPage(db, userId, page)),
    sandboxesById: (userId, ids) => read((db) => byIds<SandboxRow>(db, 'sandbox', { userId, ids })),
    sandboxesNeverMade: () => read(sandboxesNeverMade),
    liveSandboxes: () => read(liveSandboxes),
    fullConversations: (userId, ids) => read((db) => fullConversations(db, userId, ids)),
    runs: (page) => read((db) => runPage(db, page)),
    runItems: (id, page) => read((db) => runItemPage(db, id, page)),
    slotsTaken: (userId) => read((db) => slotsTaken(db, userId)),
  };
}

function conditionsOf(
  connection: StoreConnection,
  userId: UserId,
  filter: ConversationFilter,
): readonly Condition[] {
  return [sql`c.user_id = ${userId}`, ...wishesOf(connection, userId, filter)];
}

function wishesOf(
  { dialect }: StoreConnection,
  userId: UserId,
  filter: ConversationFilter,
): readonly Condition[] {
  const { titleContains: title, tags = {} } = filter;
  const found = dialect === 'sqlite' ? sql`instr` : sql`strpos`;
  return [
    ...where(title, (text) => sql`${found}(lower(c.title), lower(${columnText(text)})) > 0`),
    ...where(filter.createdFrom, (at) => sql`c.created_at >= ${at}`),
    ...where(filter.createdBefore, (at) => sql`c.created_at < ${at}`),
    ...where(filter.updatedFrom, (at) => sql`c.updated_at >= ${at}`),
    ...where(filter.updatedBefore, (at) => sql`c.updated_at < ${at}`),
    ...where(filter.sandboxId, (id) => sql`c.sandbox_id = ${id}`),
    ...where(filter.sandboxStatus, (status) => sql`c.sandbox_status = ${status}`),
    ...where(filter.executionStatus, (status) => sql`c.execution_status = ${status}`),
    ...Object.entries(tags).map(([key, value]) => hasTag(userId, key, value)),
  ];
}

function where<Value>(
  value: Value | undefined,
  condition: (value: Value) => Condition,
): readonly Condition[] {
  return value === undefined ? [] : [condition(value)];
}

/** Where a page is gone through: rows in the order of an index, and which of them are wanted. */
interface Source {
  readonly from: Condition;
  readonly conditions: readonly Condition[];
  readonly bounds: Bounds;
}

/** By creation, the conversations of a tag stand in its own index in that order: no other record is read for a page. */
function sourceOf(
  connection: StoreConnection,
  userId: UserId,
  { filter, page }: { readonly filter: ConversationFilter; readonly page: ConversationPageRequest },
): Source {
  const [first, ...others] = Object.entries(filter.tags ?? {});
  if (first === undefined || page.order !== 'CREATED_AT') {
    const conditions = conditionsOf(connection, userId, filter);
    return { from: sql`conversation c`, conditions, bounds: boundsOf(page.order) };
  }
  const [key, value] = first;
  const wishes = wishesOf(connection, userId, { ...filter, tags: Object.fromEntries(others) });
  // A server that takes the tag for a rare one would fetch all its records before it sorts them.
  const joined =
    wishes.length === 0 ? sql`` : sql`join conversation c on c.conversation_id = t.conversation_id`;
  return {
    from: sql`conversation_tag t ${joined}`,
    conditions: [...isTag(userId, key, value), ...wishes],
    bounds: { kind: 'number', value: sql.ref('t.created_at'), id: sql.ref('t.conversation_id') },
  };
}

/** Its own list of ids, so that the index over keys and values is gone through, and not every record. */
function hasTag(userId: UserId, key: string, value: string): Condition {
  return sql`c.conversation_id in (select t.conversation_id from conversation_tag t
    where ${and(isTag(userId, key, value))})`;
}

const isTag = (userId: UserId, key: string, value: string): readonly Condition[] => [
  sql`t.user_id = ${userId}`,
  sql`t.key = ${columnText(key)}`,
  sql`t.value = ${columnText(value)}`,
];

const and = (conditions: readonly Condition[]): Condition => sql.join(conditions, sql` and `);

/** By order: the column, and the same value of a row, for the page behind it. */
const ORDERS = {
  CREATED_AT: { kind: 'number', column: 'c.created_at', valueOf: (row: ConversationRow) => row.createdAt },
  UPDATED_AT: { kind: 'number', column: 'c.updated_at', valueOf: (row: ConversationRow) => row.updatedAt },
  TITLE: { kind: 'text', column: 'c.title', valueOf: titleColumn },
} as const;

/** As the records themselves have them. */
function boundsOf(order: ConversationPageRequest['order']): Bounds {
  const { kind, column } = ORDERS[order];
  return { kind, value: sql.ref(column), id: sql.ref('c.conversation_id') };
}

/** Which ones, and what they show, in one statement. */
async function conversationPage(
  db: Kysely<Tables>,
  { from, conditions, bounds }: Source,
  page: ConversationPageRequest,
): Promise<readonly PagedConversation[]> {
  const { valueOf } = ORDERS[page.order];
  const all = [...conditions, ...behind(bounds, page)];
  const ids = sql`select ${bounds.id} from ${from} where ${and(all)} ${ordered(bounds, page)} limit ${page.limit}`;
  const which = sql`c.conversation_id in (${ids}) ${ordered(boundsOf(page.order), page)}`;
  const { rows } = await selectFull(which).execute(db);
  return rows.map((text) => {
    const full = fullOf(text);
    return { ...full, cursor: { value: valueOf(full.row), id: full.row.conversationId } };
  });
}

async function count(db: Kysely<Tables>, conditions: readonly Condition[]): Promise<number> {
  const { rows } = await sql<{ readonly count: number | bigint | string }>`select count(*) as count
    from conversation c where ${and(conditions)}`.execute(db);
  return safeInteger(rows[0]?.count ?? 0);
}

async function byIds<Row extends ConversationRow | SandboxRow>(
  db: Kysely<Tables>,
  table: 'conversation' | 'sandbox',
  { userId, ids }: { readonly userId: UserId; readonly ids: readonly (ConversationId | SandboxId)[] },
): Promise<readonly (Row | null)[]> {
  if (ids.length === 0) return [];
  const key = sql.ref(`${table}_id`);
  const { rows } = await sql<
    Body & { readonly id: string }
  >`select ${key} as id, body from ${sql.table(table)}
    where ${key} in (${sql.join([...new Set(ids)])}) and user_id = ${userId}`.execute(db);
  const found = new Map(rows.map(({ id, body }) => [id, JSON.parse(body) as Row]));
  return ids.map((id) => found.get(id) ?? null);
}

async function sandboxPage(
  db: Kysely<Tables>,
  userId: UserId,
  page: PageRequest,
): Promise<readonly SandboxRow[]> {
  const bounds = { kind: 'number', value: sql.ref('created_at'), id: sql.ref('sandbox_id') } as const;
  const all = [sql`user_id = ${userId}`, ...behind(bounds, page)];
  const { rows } = await sql<Body>`select body from sandbox where ${and(all)}
    ${ordered(bounds, page)} limit ${page.limit}`.execute(db);
  return rows.map(({ body }) => JSON.parse(body) as SandboxRow);
}

async function sandboxesNeverMade(db: Kysely<Tables>): Promise<readonly SandboxRow[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select('body')
    .where('generation', '=', 0)
    .where('created_by', '=', 'api')
    .where('status', '=', 'STARTING')
    .execute();
  return rows.map(({ body }) => JSON.parse(body) as SandboxRow);
}

/** A sandbox whose machine never spoke belongs to nobody yet. One that has ended may be asked by any engine. */
async function liveSandboxes(
  db: Kysely<Tables>,
): Promise<{ readonly embedded: SandboxId | null; readonly elsewhere: SandboxId | null }> {
  const live = db
    .selectFrom('sandbox')
    .leftJoin('entity', (join) =>
      join.on('entity.machine', '=', 'sandbox').onRef('entity.id', '=', 'sandbox.sandbox_id'),
    )
    .select('sandbox.sandbox_id')
    .where('sandbox.status', 'in', ['STARTING', 'RUNNING', 'PAUSED'])
    .where('sandbox.generation', '>', 0)
    .limit(1);
  const embedded = await live.where('entity.done', '=', 0).executeTakeFirst();
  const elsewhere = await live.where('entity.id', 'is', null).executeTakeFirst();
  const idOf = (row: { readonly sandbox_id: string } | undefined): SandboxId | null =>
    row === undefined ? null : sandboxId(row.sandbox_id);
  return { embedded: idOf(embedded), elsewhere: idOf(elsewhere) };
}

async function slotsTaken(
  db: Kysely<Tables>,
  userId: UserId,
): Promise<{ readonly user: number; readonly installation: number }> {
  const { rows } = await sql<{ readonly own: number | string; readonly total: number | string }>`select
    (select count(*) from slot where user_id = ${userId}) as own,
    (select count(*) from slot) as total`.execute(db);
  return { user: safeInteger(rows[0]?.own ?? 0), installation: safeInteger(rows[0]?.total ?? 0) };
}
