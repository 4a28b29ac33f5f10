/** Every query behind a read of the API goes through an index, in both dialects: no page grows with other people's rows. */
import { PGlite } from '@electric-sql/pglite';
import Database from 'libsql';
import { Kysely, PostgresDialect, SqliteDialect, type CompiledQuery } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { conversationId, runId, sandboxId, userId } from '../../core/ids.ts';
import { SPEND_DIMENSIONS } from '../../ports/overview.ts';
import { CONVERSATION_ORDERS } from '../../ports/record-search.ts';
import { apiKeyStore } from '../../store/access/api-key-store.ts';
import { auditLog } from '../../store/access/audit-log.ts';
import { storeConnection, type Dialect, type StoreConnection } from '../../store/sql/connection.ts';
import { eventSearch } from '../../store/records/event-search.ts';
import { migrate } from '../../store/schema/migrate.ts';
import { MIGRATIONS } from '../../store/schema/migrations.ts';
import { overview } from '../../store/records/overview.ts';
import { proxyKeyStore } from '../../store/spend/proxy-key-store.ts';
import { recordSearch } from '../../store/records/record-search.ts';
import { startTaskStore } from '../../store/records/start-task-store.ts';
import type { Tables } from '../../store/schema/tables.ts';
import { pglitePool } from '../contract/store-pglite.ts';

const USER = userId('ada');
const ID = conversationId('c'.repeat(32));
const OTHER = conversationId('d'.repeat(32));
const BOX = sandboxId('5'.repeat(32));
const PAGE = { after: { value: 5, id: ID }, limit: 21, descending: true };
const strange = (order: (typeof CONVERSATION_ORDERS)[number]) => ({
  value: order === 'TITLE' ? 5 : 'yesterday',
  id: 'a\u0000b',
});
const FAILURES = { userId: null, since: 5, limit: 20 };
const EVENT_PAGE = { afterSequence: 7, limit: 21, descending: false };

/** By the route that asks it. */
const READS: Readonly<Record<string, (connection: StoreConnection) => Promise<unknown>>> = {
  ...Object.fromEntries(
    CONVERSATION_ORDERS.map((order) => [
      `conversations, ${order}`,
      (connection: StoreConnection) =>
        recordSearch(connection).conversationPage(USER, {}, { ...PAGE, order, after: after(order) }),
    ]),
  ),
  'conversations by tag': (connection) =>
    recordSearch(connection).conversationPage(
      USER,
      { tags: { team: 'blue' } },
      { ...PAGE, order: 'CREATED_AT' },
    ),
  'conversations of a sandbox': (connection) =>
    recordSearch(connection).conversationPage(USER, { sandboxId: BOX }, { ...PAGE, order: 'CREATED_AT' }),
  'conversations by status': (connection) =>
    recordSearch(connection).conversationPage(
      USER,
      { executionStatus: 'FINISHED' },
      { ...PAGE, order: 'UPDATED_AT' },
    ),
  'conversations, counted': (connection) => recordSearch(connection).countConversations(USER, {}),
  'conversations by id': (connection) => recordSearch(connection).conversationsById(USER, [ID]),
  'conversations in full': (connection) => recordSearch(connection).fullConversations(USER, [ID, OTHER]),
  sandboxes: (connection) => recordSearch(connection).sandboxes(USER, PAGE),
  'sandboxes by id': (connection) => recordSearch(connection).sandboxesById(USER, [BOX]),
  // PostgreSQL refuses a text where a number belongs; a page id is whatever a client sends.
  ...Object.fromEntries(
    CONVERSATION_ORDERS.map((order) => [
      `conversations, ${order}, behind a page id of another kind`,
      (connection: StoreConnection) =>
        recordSearch(connection).conversationPage(USER, {}, { ...PAGE, order, after: strange(order) }),
    ]),
  ),
  'sandboxes behind a page id of another kind': (connection) =>
    recordSearch(connection).sandboxes(USER, { ...PAGE, after: strange('CREATED_AT') }),
  'start tasks behind a page id of another kind': (connection) =>
    startTaskStore(connection).search(USER, {}, { ...PAGE, after: strange('CREATED_AT') }),
  'runs behind a page id of another kind': (connection) =>
    recordSearch(connection).runs({ ...PAGE, after: { value: 1.5, id: 'x' } }, null),
  runs: (connection) => recordSearch(connection).runs(PAGE, null),
  'runs of a user': (connection) => recordSearch(connection).runs(PAGE, USER),
  'open runs of a job': (connection) =>
    recordSearch(connection).runs(PAGE, USER, { name: 'nightly', state: 'open' }),
  'items of a run': (connection) =>
    recordSearch(connection).runItems(runId('nightly'), { ...PAGE, descending: false }),
  'start tasks': (connection) => startTaskStore(connection).search(USER, {}, PAGE),
  'start tasks of a conversation': (connection) =>
    startTaskStore(connection).search(USER, { conversationId: ID }, PAGE),
  'start tasks by id': (connection) => startTaskStore(connection).byIds(USER, ['t1']),
  'a start by its idempotency key': (connection) => startTaskStore(connection).byIdempotencyKey(USER, 'k'),
  events: (connection) => eventSearch(connection).searchEvents(ID, {}, EVENT_PAGE),
  'events of a kind': (connection) =>
    eventSearch(connection).searchEvents(ID, { kind: 'MessageEvent' }, EVENT_PAGE),
  'own events': (connection) =>
    eventSearch(connection).ownEventTexts({ userId: USER, id: ID }, {}, EVENT_PAGE),
  'own events backward': (connection) =>
    eventSearch(connection).ownEventTexts(
      { userId: USER, id: ID },
      {},
      { afterSequence: null, limit: 21, descending: true },
    ),
  'own events of a kind': (connection) =>
    eventSearch(connection).ownEventTexts({ userId: USER, id: ID }, { kind: 'MessageEvent' }, EVENT_PAGE),
  'events, counted': (connection) => eventSearch(connection).countEvents(ID, {}),
  'events by id': (connection) => eventSearch(connection).eventsById(ID, ['e1']),
  'a key by its hash': (connection) => apiKeyStore(connection).findByHash('0'.repeat(64)),
  'keys of a user': (connection) => apiKeyStore(connection).list(USER),
  'the audit log': (connection) => auditLog(connection).entries({ before: 100, limit: 20 }),
  'the audit log of a user': (connection) =>
    auditLog(connection).entries({ before: null, limit: 20, filter: { userId: 'ada', outcome: 'refused' } }),
  'the audit log of a day': (connection) =>
    auditLog(connection).entries({
      before: null,
      limit: 20,
      filter: { from: 1, until: 2, aboutContains: 'x' },
    }),
  'sandboxes by status': (connection) =>
    recordSearch(connection).sandboxes(USER, PAGE, { statuses: ['RUNNING', 'PAUSED'], idBegins: '5' }),
  'sandboxes, counted': (connection) =>
    recordSearch(connection).countSandboxes(USER, { statuses: ['RUNNING'] }),
  'what is in sandboxes': (connection) => overview(connection).insideOf(USER, [BOX], 3),
  'the line for a slot': (connection) =>
    overview(connection).line({ userId: null, now: 0, after: { value: 5, id: '' }, limit: 20 }),
  'failed starts': (connection) => overview(connection).failedStarts(FAILURES),
  'failed sandboxes of a user': (connection) =>
    overview(connection).failedSandboxes({ ...FAILURES, userId: USER }),
  'failed last steps': (connection) => overview(connection).failedLastSteps(FAILURES),
  'virtual keys': (connection) =>
    proxyKeyStore(connection).page({ afterName: 'a', nameContains: 'b', limit: 20 }),
  ...Object.fromEntries(
    SPEND_DIMENSIONS.map((by) => [
      `spend by ${by}`,
      (connection: StoreConnection) =>
        overview(connection).spend({ by, from: 0, to: 86_400_000, bucketMs: 3_600_000, userId: USER }),
    ]),
  ),
};

function after(order: (typeof CONVERSATION_ORDERS)[number]) {
  return { value: order === 'TITLE' ? 'a' : 5, id: ID };
}

interface Bench {
  readonly connection: StoreConnection;
  readonly asked: CompiledQuery[];
  /** Steps of a plan that read a table from its beginning. */
  scans(query: CompiledQuery): Promise<readonly string[]>;
}

async function sqliteBench(): Promise<Bench> {
  const database = new Database(':memory:');
  const { db, connection, asked } = await connect('sqlite', new SqliteDialect({ database }));
  return {
    connection,
    asked,
    async scans({ sql, parameters }) {
      const { rows } = await db.executeQuery<{ detail: string }>({
        ...raw(`explain query plan ${sql}`),
        parameters,
      });
      const steps = rows.map(({ detail }) => detail);
      // A part of the statement by its name: its own steps say how the tables in it are read.
      const parts = steps.flatMap((step) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)$/.exec(step)?.[1] ?? []);
      // A function that makes rows has no index.
      return steps
        .filter((step) => /^SCAN (?!.*\b(?:SUBQUERY|CONSTANT|VIRTUAL TABLE)\b)/i.test(step))
        .filter((step) => !parts.includes(step.slice('SCAN '.length)));
    },
  };
}

async function postgresBench(): Promise<Bench> {
  const server = new PGlite();
  const { db, connection, asked } = await connect(
    'postgres',
    new PostgresDialect({ pool: pglitePool(server) }),
  );
  // Tables are empty here, where reading them whole would be cheapest: it is made the last choice.
  await db.executeQuery(raw('set enable_seqscan = off'));
  return {
    connection,
    asked,
    async scans({ sql, parameters }) {
      const { rows } = await db.executeQuery<Record<string, unknown>>({
        ...raw(`explain ${sql}`),
        parameters,
      });
      return rows.map((row) => String(Object.values(row)[0])).filter((step) => step.includes('Seq Scan'));
    },
  };
}

async function connect(dialect: Dialect, kysely: SqliteDialect | PostgresDialect) {
  const asked: CompiledQuery[] = [];
  const db = new Kysely<Tables>({
    dialect: kysely,
    log: ({ query }) => void asked.push(query as CompiledQuery),
  });
  await migrate(db, MIGRATIONS);
  return { db, asked, connection: storeConnection(db, { dialect, groupWrites: false }) };
}

function raw(sql: string): CompiledQuery {
  return { sql, parameters: [], query: { kind: 'RawNode' } as never, queryId: { queryId: sql } };
}

const DIALECTS = { sqlite: sqliteBench, postgres: postgresBench } as const;

describe.each(Object.keys(DIALECTS) as (keyof typeof DIALECTS)[])('on %s', (name) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await DIALECTS[name]();
  }, 600_000);

  it.each(Object.keys(READS))('%s', async (read) => {
    bench.asked.length = 0;
    await READS[read]?.(bench.connection);
    const selects = bench.asked.filter(({ sql }) => /^\s*select/i.test(sql));
    expect(selects.length).toBeGreaterThan(0);
    for (const query of selects) expect([query.sql, await bench.scans(query)]).toEqual([query.sql, []]);
  });

  it('and a query without an index is seen', async () => {
    const query = raw(`select * from conversation where body = 'x'`);
    expect(await bench.scans(query)).not.toEqual([]);
  });
});
