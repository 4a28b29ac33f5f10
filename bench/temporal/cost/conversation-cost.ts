/**
 * What an item of a run costs in calls, commits and events, each by its cause, from the run's start to the end of all it began.
 * Owns the load and the counting; figures are means over the items, and what the run does once is shared among them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { runId } from '../../../core/ids.ts';
import { startPostgres } from '../../../scripts/postgres-server.ts';
import { openStore, type Store } from '../../../store/open-store.ts';
import { parsePostgresUrl } from '../../../store/sql/postgres-address.ts';
import { createPostgresPool } from '../../../store/sql/postgres-pool.ts';
import { planOf } from '../../engine/run-load.ts';
import { deploy } from '../deployment.ts';
import { onDevServer, type Ground } from '../ground.ts';
import { nameOf, type HistoryEvent } from '../histories.ts';
import { runToEnd, type HistoryLoad } from '../history-cost.ts';
import { coreCalls, type CoreCalls, type Counts } from './core-calls.ts';

export interface CostLoad extends HistoryLoad {
  readonly pollMs: number;
}

/** For each item. */
export interface ConversationCost {
  readonly commits: number;
  readonly statements: Counts;
  readonly storeCalls: Counts;
  readonly serverCalls: Counts;
  /** By `WORKFLOW EVENT`. */
  readonly events: Counts;
  /** By `WORKFLOW NOTICE`. */
  readonly signals: Counts;
  /** By type. */
  readonly activities: Counts;
}

const POLL_MS = 2_000;
/** Of the bench itself. */
const OWN_CALLS = 'unary ListWorkflowExecutions';

export async function measureConversationCost(load: CostLoad): Promise<ConversationCost> {
  const calls = await coreCalls();
  const store = await countedStore();
  try {
    return await onDevServer((ground) => measure(ground, load, { calls, store }), calls.telemetry);
  } finally {
    await store.close();
  }
}

interface Counters {
  readonly calls: CoreCalls;
  readonly store: CountedStore;
}

async function measure(
  ground: Ground,
  { conversations, atOnce, activityMs, pollMs }: CostLoad,
  counters: Counters,
): Promise<ConversationCost> {
  const { calls } = counters;
  const openStore = (): ReturnType<CountedStore['open']> => counters.store.open();
  const deployment = await deploy(ground, { activityMs, pollMs, openStore });
  let before: Counts;
  let after: Counts;
  try {
    await counters.store.reset();
    before = await calls.read();
    const id = runId('run');
    const plan = planOf(id, { items: conversations, concurrency: atOnce });
    await runToEnd(deployment, id, plan);
    await allEnded(ground);
    after = await calls.read();
  } finally {
    await deployment.stop();
  }
  const each = (counts: Counts): Counts => new Map([...counts].map(([key, n]) => [key, n / conversations]));
  const stored = withoutOwn(await counters.store.read());
  return {
    commits: stored.commits / conversations,
    statements: each(stored.statements),
    storeCalls: each(stored.calls),
    serverCalls: each(
      new Map(
        [...after].filter(([key]) => key !== OWN_CALLS).map(([key, n]) => [key, n - (before.get(key) ?? 0)]),
      ),
    ),
    ...inHistories(await historiesOf(ground), each),
  };
}

/** What the bench itself asks, to see that the run has ended. */
const OWN_CALL = 'records.run';
const OWN_STATEMENT = /^select .* from "run" where "run_id" = \$1$/;

function withoutOwn({ commits, statements, calls }: StoreCounts): StoreCounts {
  return {
    commits: commits - (calls.get(OWN_CALL) ?? 0),
    statements: new Map([...statements].filter(([text]) => !OWN_STATEMENT.test(text))),
    calls: new Map([...calls].filter(([call]) => call !== OWN_CALL)),
  };
}

/** The sandboxes and conversations of the run are removed, and with them the last workflow has ended. */
async function allEnded({ client }: Ground): Promise<void> {
  for (let open = Number.NaN; open !== 0;) {
    await pause(POLL_MS);
    open = 0;
    for await (const _ of client.list({ query: `ExecutionStatus = 'Running'` })) open += 1;
  }
}

type Histories = readonly { readonly type: string; readonly events: readonly HistoryEvent[] }[];

/** Of every run of a workflow: an entity that had rested begins another one. */
async function historiesOf({ client }: Ground): Promise<Histories> {
  const histories = [];
  for await (const { workflowId, runId: run, type } of client.list()) {
    const { events } = await client.getHandle(workflowId, run).fetchHistory();
    histories.push({ type, events: events ?? [] });
  }
  return histories;
}

function inHistories(
  histories: Histories,
  each: (counts: Counts) => Counts,
): Pick<ConversationCost, 'events' | 'signals' | 'activities'> {
  const counts = {
    events: new Map<string, number>(),
    signals: new Map<string, number>(),
    activities: new Map<string, number>(),
  };
  const add = (to: Map<string, number>, key: string): unknown => to.set(key, (to.get(key) ?? 0) + 1);
  for (const { type, events } of histories)
    for (const event of events) {
      add(counts.events, `${type} ${nameOf(event)}`);
      const activity = event.activityTaskScheduledEventAttributes?.activityType?.name;
      if (activity != null) add(counts.activities, activity);
      const signalled = event.workflowExecutionSignaledEventAttributes?.input?.payloads?.[0]?.data;
      if (signalled != null) add(counts.signals, `${type} ${noticeIn(signalled)}`);
    }
  const { events, signals, activities } = counts;
  return { events: each(events), signals: each(signals), activities: each(activities) };
}

function noticeIn(data: Uint8Array): string {
  const { event } = JSON.parse(Buffer.from(data).toString()) as { readonly event: { readonly type: string } };
  return event.type;
}

const DATABASE = 'bench';
const CONNECTIONS_MAX = 20;

/**
 * A store on a real PostgreSQL that counts: what was asked of it, what it committed, and its statements.
 * Owns the server, its database and the reading of the server's own statistics.
 */
interface StoreCounts {
  readonly commits: number;
  /** By text, parameters left out. */
  readonly statements: Counts;
  /** By `PART.METHOD` of the store. */
  readonly calls: Counts;
}

interface CountedStore {
  open(): Promise<Store>;
  /** Counts from here. The server says what a connection did once it rests. */
  reset(): Promise<void>;
  /** To be called after the store was closed: what its connections did is all there then. */
  read(): Promise<StoreCounts>;
  close(): Promise<void>;
}

async function countedStore(): Promise<CountedStore> {
  const server = await startPostgres({ settings: { shared_preload_libraries: 'pg_stat_statements' } });
  const url = await server.createDatabase(DATABASE);
  await server.run('create extension pg_stat_statements');
  const calls = new Map<string, number>();
  const commits = async (): Promise<number> => {
    const [row] = await server.run(`select xact_commit from pg_stat_database where datname = '${DATABASE}'`);
    return Number(row?.['xact_commit']);
  };
  let before = 0;
  return {
    async open() {
      const options = { poolMax: CONNECTIONS_MAX, statementTimeoutMs: 0, tls: null, schema: null };
      const address = parsePostgresUrl(url);
      const use = { readOnly: false, name: DATABASE };
      // Migrations have connections of their own, and are not counted.
      await (
        await openStore({ kind: 'postgres', pool: createPostgresPool({ address, ...options }, use) })
      ).close();
      const pool = createPostgresPool({ address, ...options }, use);
      return counting(await openStore({ kind: 'postgres', pool }), calls);
    },
    async reset() {
      calls.clear();
      before = await commits();
      await server.run('select pg_stat_statements_reset()');
    },
    async read() {
      const rows = await server.run(
        `select query, calls from pg_stat_statements s join pg_database d on d.oid = s.dbid where datname = '${DATABASE}'`,
      );
      const statements = new Map<string, number>();
      for (const { query, calls: count } of rows) {
        const text = String(query).replaceAll(/\s+/g, ' ');
        statements.set(text, (statements.get(text) ?? 0) + Number(count));
      }
      return { commits: (await commits()) - before, statements, calls: new Map(calls) };
    },
    close: () => server.close(),
  };
}

/** The same store; every call of a method of its parts is counted. */
function counting(store: Store, calls: Map<string, number>): Store {
  const counted = <Part extends object>(name: string, part: Part): Part =>
    new Proxy(part, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]): unknown => {
          const call = `${name}.${String(key)}`;
          calls.set(call, (calls.get(call) ?? 0) + 1);
          return Reflect.apply(value, target, args);
        };
      },
    });
  const parts = Object.entries(store).map(([name, part]: [string, unknown]) => [
    name,
    typeof part === 'object' && part !== null ? counted(name, part) : part,
  ]);
  return {
    ...(Object.fromEntries(parts) as Store),
    vault: (sealKey, options) => counted('vault', store.vault(sealKey, options)),
  };
}
