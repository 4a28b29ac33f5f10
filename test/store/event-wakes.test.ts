/** Followers of transcripts on a real PostgreSQL: woken by another process, idle for nothing, and back after an outage. */
import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { conversationId, type ConversationId } from '../../core/ids.ts';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { EVENT_CHANNEL, readNews } from '../../store/records/event-news.ts';
import { notificationChannel } from '../../store/sql/notification-channel.ts';
import { parsePostgresUrl } from '../../store/sql/postgres-address.ts';
import { createPostgresPool } from '../../store/sql/postgres-pool.ts';
import { agentEvent } from '../activities/fake-agent.ts';
import { conversationRow } from '../contract/store-rows.ts';
import { describeWith } from '../helpers/requires.ts';

const ALL_MS_MAX = 120_000;
const DATABASE = 'wakes';
/** Longer than the interval of polls without notifications, shorter than that of the slow one. */
const QUIET_MS = 3_000;
const never = new AbortController().signal;
setMaxListeners(0, never);

const wait = (ms: number): Promise<'quiet'> =>
  new Promise((resolve) => setTimeout(() => resolve('quiet'), ms));

describeWith('postgres', 'followers of events', () => {
  let server: PostgresServerProcess;
  beforeAll(async () => {
    server = await startPostgres();
    await server.createDatabase(DATABASE);
  }, ALL_MS_MAX);
  afterAll(() => server.close());

  /** A store as a process has it. */
  async function open(): Promise<Store> {
    const at = {
      address: parsePostgresUrl(server.url(DATABASE)),
      ...{ poolMax: 4, statementTimeoutMs: 30_000, tls: null, schema: null },
    };
    const store = await openStore({
      kind: 'postgres',
      pool: createPostgresPool(at, { readOnly: false, name: 'parley test' }),
      channel: notificationChannel(at, EVENT_CHANNEL),
    });
    onTestFinished(() => store.close());
    return store;
  }

  let made = 0;
  async function newConversation(store: Store): Promise<ConversationId> {
    const id = conversationId(`followed-${(made += 1)}`);
    await store.records.project([conversationRow(id)]);
    return id;
  }

  const append = (store: Store, id: ConversationId, name: string): Promise<number> =>
    store.events.append(id, [agentEvent(name)], Date.now());

  /** One that is woken by notifications alone from now on. */
  async function follower(store: Store, id: ConversationId, after: number) {
    const one = store.eventWakes.follow(id);
    onTestFinished(() => one.close());
    // Until notifications arrive, it is woken five times a second.
    await expect
      .poll(() => Promise.race([one.wait(after, never).then(() => 'woken'), wait(QUIET_MS)]), {
        timeout: ALL_MS_MAX,
        interval: 10,
      })
      .toBe('quiet');
    return one;
  }

  it(
    'are woken by what another process stores of their conversation, and by its deletion',
    async () => {
      const [writing, reading] = [await open(), await open()];
      const [id, other] = [await newConversation(writing), await newConversation(writing)];
      const one = await follower(reading, id, 0);
      await append(writing, other, 'of another');
      await writing.records.removeConversation(other);
      expect(await Promise.race([one.wait(0, never), wait(QUIET_MS)])).toBe('quiet');
      const began = performance.now();
      await append(writing, id, 'first');
      await one.wait(0, never);
      // What it was notified of and has read since does not wake it.
      expect(await Promise.race([one.wait(1, never), wait(QUIET_MS)])).toBe('quiet');
      await writing.records.removeConversation(id);
      await one.wait(1, never);
      expect(performance.now() - began).toBeLessThan(10_000 + QUIET_MS);
    },
    ALL_MS_MAX,
  );

  it(
    'cost nothing while nothing happens, as many as they are',
    async () => {
      const [writing, reading] = [await open(), await open()];
      const ids = await Promise.all(Array.from({ length: 40 }, () => newConversation(writing)));
      await follower(reading, ids[0] as ConversationId, 0);
      for (const id of ids.slice(1)) {
        const one = reading.eventWakes.follow(id);
        onTestFinished(() => one.close());
        void one.wait(0, never);
      }
      const commits = async (): Promise<number> => {
        const [row] = await server.run(
          `select xact_commit::float8 as count from pg_stat_database where datname = '${DATABASE}'`,
        );
        return Number(row?.['count']);
      };
      // Sessions at rest report after ten seconds what they have done before.
      await wait(12_000);
      const before = await commits();
      await wait(12_000);
      // The slow poll and its probe, the two queries of this test, and what the server does by itself: 200 before.
      expect(((await commits()) - before) / 12).toBeLessThan(2);
    },
    ALL_MS_MAX,
  );

  it(
    'hear again after the connection was cut and after the server was away, and of what came meanwhile',
    async () => {
      const [writing, reading] = [await open(), await open()];
      const id = await newConversation(writing);
      let after = 0;
      const one = await follower(reading, id, after);
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'parley listener'`;
      expect((await server.run(cut, DATABASE)).length).toBeGreaterThan(0);
      await append(writing, id, 'while it was cut');
      await one.wait(after, never);
      after = 1;
      await follower(reading, id, after);
      await server.stop('SIGINT');
      await server.start();
      await append(writing, id, 'after the outage');
      await one.wait(after, never);
      const [event] = await reading.events.events(id, { afterSequence: 1, limit: 1 });
      expect(event?.eventId).toBe('after the outage');
      await follower(reading, id, 2);
    },
    ALL_MS_MAX,
  );

  it(
    'find what was stored and never told of',
    async () => {
      const [writing, reading] = [await open(), await open()];
      const id = await newConversation(writing);
      const one = await follower(reading, id, 0);
      // As by a process that ended between its commit and its notification.
      await server.run(
        `insert into transcript (conversation_id, last_sequence, last_received_at, bytes) values ('${id}', 1, 1, 0)`,
        DATABASE,
      );
      const began = performance.now();
      await one.wait(0, never);
      expect(performance.now() - began).toBeLessThan(15_000);
    },
    ALL_MS_MAX,
  );

  it(
    'are woken by the last of a burst, of which not every one is told',
    async () => {
      const [writing, reading] = [await open(), await open()];
      const id = await newConversation(writing);
      const one = await follower(reading, id, 0);
      await Promise.all(Array.from({ length: 200 }, (_, index) => append(writing, id, `burst ${index}`)));
      await one.wait(199, never);
      expect(await reading.events.count(id)).toBe(200);
    },
    ALL_MS_MAX,
  );
});

describe('what is notified', () => {
  it.each([
    ['abc 12', { id: 'abc', sequence: 12 }],
    ['abc gone', { id: 'abc', sequence: Infinity }],
    ['a b 3', { id: 'a b', sequence: 3 }],
    ['', null],
    ['abc', null],
    [' 12', null],
    ['abc -1', null],
    ['abc 1e9', null],
    ['abc 9999999999999999', null],
    ['abc \u001b[2J', null],
  ])('%j is read as %j, whoever sent it', (payload, expected) => {
    expect(readNews(payload)).toEqual(expected);
  });
});
