/**
 * A user's own records by id, by filter and page by page.
 * Owns the queries; each uses an index that begins with the user, so that rows of other users slow down no page.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { sandboxId, type SandboxId, type UserId, type RunId } from '../../core/ids.ts';
import type { ConversationRow, SandboxRow, RunItemRow, RunRow } from '../../core/machine/projection.ts';
import type {
  PagedConversation,
  PageRequest,
  RecordSearch,
  SandboxFilter,
  PlacedItem,
  RunFilter,
} from '../../ports/record-search.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection, Dialect } from '../sql/connection.ts';
import { conversationPage, countConversations } from './conversation-page.ts';
import { fullOf, selectFull } from './full-conversations.ts';
import { behind, ordered } from '../sql/keyset.ts';
import { ownedById } from './owned-by-id.ts';
import { SharedReads } from '../sql/shared-reads.ts';
import type { Tables } from '../schema/tables.ts';

interface Body {
  readonly body: string;
}

export function recordSearch(connection: StoreConnection): RecordSearch {
  const read = <T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
    connection.read('search the records', work);
  const pages = new SharedReads<readonly PagedConversation[]>();
  return {
    conversationPage: (userId, filter, page) =>
      pages.read(JSON.stringify([userId, filter, page]), () =>
        read((db) => conversationPage(db, connection.dialect, { userId, filter, page })),
      ),
    countConversations: (userId, filter) =>
      read((db) => countConversations(db, connection.dialect, { userId, filter })),
    conversationsById: ownedById(read, {
      select: (ids) => sql<Body>`select body from conversation where conversation_id in (${ids})`,
      found: ({ body }) => JSON.parse(body) as ConversationRow,
      keyOf: ({ conversationId, userId }) => ({ id: conversationId, userId }),
    }),
    sandboxes: (userId, page, filter = {}) => read((db) => sandboxPage(db, { userId, page, filter })),
    countSandboxes: (userId, filter) => read((db) => countSandboxes(db, userId, filter)),
    sandboxesById: ownedById(read, {
      select: (ids) => sql<Body>`select body from sandbox where sandbox_id in (${ids})`,
      found: ({ body }) => JSON.parse(body) as SandboxRow,
      keyOf: ({ sandboxId, userId }) => ({ id: sandboxId, userId }),
    }),
    sandboxesNeverMade: () => read(sandboxesNeverMade),
    liveSandboxes: () => read(liveSandboxes),
    fullConversations: ownedById(read, {
      select: (ids) => selectFull(sql`conversation c`, sql`where c.conversation_id in (${ids})`),
      found: fullOf,
      keyOf: ({ row: { conversationId, userId } }) => ({ id: conversationId, userId }),
    }),
    runs: (page, userId, filter = {}) =>
      read((db) => runPage(db, connection.dialect, { page, userId, filter })),
    runItems: (id, page) => read((db) => runItemPage(db, id, page)),
    slotsTaken: (userId) => read((db) => slotsTaken(db, userId)),
  };
}

async function sandboxPage(
  db: Kysely<Tables>,
  wanted: { readonly userId: UserId; readonly page: PageRequest; readonly filter: SandboxFilter },
): Promise<readonly SandboxRow[]> {
  const { userId, page, filter } = wanted;
  const bounds = { kind: 'number', value: sql.ref('created_at'), id: sql.ref('sandbox_id') } as const;
  const all = [...sandboxConditions(userId, filter), ...behind(bounds, page)];
  const { rows } = await sql<Body>`select body from sandbox where ${sql.join(all, sql` and `)}
    ${ordered(bounds, page)} limit ${page.limit}`.execute(db);
  return rows.map(({ body }) => JSON.parse(body) as SandboxRow);
}

async function countSandboxes(db: Kysely<Tables>, userId: UserId, filter: SandboxFilter): Promise<number> {
  const { rows } = await sql<{ readonly count: number | bigint | string }>`select count(*) as count
    from sandbox where ${sql.join(sandboxConditions(userId, filter), sql` and `)}`.execute(db);
  return safeInteger(rows[0]?.count ?? 0);
}

function sandboxConditions(
  userId: UserId,
  { statuses, idBegins }: SandboxFilter,
): readonly RawBuilder<unknown>[] {
  return [
    sql`user_id = ${userId}`,
    ...(statuses === undefined ? [] : [sql`status in (${sql.join(statuses.map((one) => sql`${one}`))})`]),
    ...(idBegins === undefined
      ? []
      : [sql`substr(sandbox_id, 1, ${sql.lit(idBegins.length)}) = ${idBegins}`]),
  ];
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

/** Leaves out sandboxes that were never projected, which no engine has yet, and ended ones, which any may take. */
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

const RUN_BOUNDS = { kind: 'number', value: sql.ref('created_at'), id: sql.ref('run_id') } as const;
const ITEM_BOUNDS = { kind: 'number', value: sql.ref('position'), id: sql.ref('key') } as const;

interface RunPageRequest {
  readonly page: PageRequest;
  /** Null: of all users. */
  readonly userId: UserId | null;
  readonly filter: RunFilter;
}

/** Runs and the items of one, page by page. */
async function runPage(
  db: Kysely<Tables>,
  dialect: Dialect,
  { page, userId, filter: { name, state } }: RunPageRequest,
): Promise<readonly RunRow[]> {
  const said = (field: string): RawBuilder<unknown> =>
    dialect === 'sqlite' ? sql`json_extract(body, ${`$.${field}`})` : sql`(body::json ->> ${field})`;
  const conditions = [
    ...(userId === null ? [] : [sql`user_id = ${userId}`]),
    // True of every run; makes both dialects use the index.
    sql`created_at >= 0`,
    ...behind(RUN_BOUNDS, page),
    ...(name === undefined ? [] : [sql`${said('name')} = ${name}`]),
    ...(state === undefined
      ? []
      : [state === 'finished' ? sql`${said('phase')} = 'finished'` : sql`${said('phase')} <> 'finished'`]),
  ];
  const { rows } = await sql<{ readonly body: string }>`select body from run
    where ${sql.join(conditions, sql` and `)} ${ordered(RUN_BOUNDS, page)} limit ${page.limit}`.execute(db);
  return rows.map(({ body }) => JSON.parse(body) as RunRow);
}

async function runItemPage(db: Kysely<Tables>, id: RunId, page: PageRequest): Promise<readonly PlacedItem[]> {
  const conditions = [sql`run_id = ${id}`, ...behind(ITEM_BOUNDS, page)];
  const { rows } = await sql<{ readonly position: number | bigint | string; readonly body: string }>`
    select position, body from run_item where ${sql.join(conditions, sql` and `)}
    ${ordered(ITEM_BOUNDS, page)} limit ${page.limit}`.execute(db);
  return rows.map(({ position, body }) => ({
    row: JSON.parse(body) as RunItemRow,
    position: safeInteger(position),
  }));
}
