/**
 * What a read of the application API costs beside a bare route over the same rows, in the same run, on either database.
 * Owns what is compared; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { World } from '../activities/world.ts';
import { load as machineLoad, show } from './all/figure.ts';
import { percentile } from './all/means.ts';
import { dialectOf } from '../api/application/dialect.ts';
import { APPLICATION_ROUTES } from '../api/application/routes.ts';
import { startApplicationServer, type ApplicationServer } from '../api/application/server.ts';
import { cachedKeys } from '../api/keys/cached-keys.ts';
import { issueKey } from '../api/keys/issue-key.ts';
import { systemClock } from '../engine/system-clock.ts';
import { startPostgres } from '../scripts/postgres-server.ts';
import { createJobCompiler } from '../host/serve/job-compiler.ts';
import { createKeyMinter } from '../store/spend/key-minter.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { parsePostgresUrl } from '../store/sql/postgres-address.ts';
import { createPostgresPool } from '../store/sql/postgres-pool.ts';
import { sealKey } from '../store/access/seal-key.ts';
import { postgresRows, sqliteRows, startBareServer, type BareServer } from './api/bare-routes.ts';
import { fill, fillPostgres, TAG, USER } from './api/filled-store.ts';
import { LOAD_ARGUMENT, serveLoad, startLoad, type LoadProcess } from './api/load.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    conversations: { type: 'string', default: '1000' },
    events: { type: 'string', default: '20' },
    requests: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    load: { type: 'boolean', default: false },
  },
});
const CONVERSATIONS = Number(values.conversations);
const EVENTS_EACH = Number(values.events);
const CLIENTS = 50;
/** As `store.pool` has it. */
const POOL_MAX = 10;
const NO_LIMIT = { burst: 1e9, perSecond: 1e9 };
const MICROSECONDS = 1_000;

type Part = 'get' | 'search by tag' | 'events page';

/** What is asked of either; `{id}` stands for a conversation. */
const PATHS: Readonly<Record<Part, Readonly<Record<'bare' | 'parley', string>>>> = {
  get: { bare: '/get/{id}', parley: '/api/v1/app-conversations?ids={id}' },
  'search by tag': {
    bare: '/search',
    parley: `/api/v1/app-conversations/search?tag=${TAG.key}%3D${TAG.value}&limit=20`,
  },
  'events page': { bare: '/events/{id}', parley: '/api/v1/conversation/{id}/events/search?limit=100' },
};

async function serve(store: Store): Promise<ApplicationServer> {
  const world = {
    ...store,
    clock: systemClock,
    keys: createKeyMinter(sealKey(new Uint8Array(32))),
  } as unknown as World;
  const { search, startTasks, idempotencyKeys, apiKeys, documents, audit, eventSearch, eventWakes } = store;
  const { overview, proxyKeys, accounts } = store;
  const never = (): Promise<never> => Promise.reject(new Error('nothing is changed here'));
  const application = {
    ...{ search, startTasks, idempotencyKeys, documents, audit, eventSearch, eventWakes, world },
    ...{ overview, proxyKeys, accounts },
    apiKeys: cachedKeys(apiKeys, systemClock),
    requests: { deliver: never },
    relay: { connect: never },
    dialect: dialectOf('spec'),
    models: [],
    rateMeter: null,
    runLog: store.lifecycle,
    troubles: store.troubles,
    configuration: null,
    jobs: createJobCompiler({ models: () => [], deployment: world.deployment }),
    simulator: null,
    publicUrl: () => 'http://127.0.0.1',
    planHash: ({ hash }: { readonly hash: string }) => hash,
    randomHex: () => '0',
    version: '0',
  };
  return await startApplicationServer(application, {
    at: { host: '127.0.0.1', port: 0 },
    routes: APPLICATION_ROUTES,
    rateLimits: { perKey: NO_LIMIT, refusals: NO_LIMIT },
    log: () => undefined,
  });
}

interface Filled {
  readonly store: Store;
  readonly bare: BareServer;
  close(): Promise<void>;
}

async function onSqlite(): Promise<Filled> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-api-'));
  const file = path.join(folder, 'parley.db');
  const store = await openStore({ kind: 'sqlite', path: file });
  await fill(store, { conversations: CONVERSATIONS, eventsEach: EVENTS_EACH });
  const bare = await startBareServer(sqliteRows(file));
  return { store, bare, close: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })) };
}

/** Over loopback, with what is durable as slow as it is. */
async function onPostgres(): Promise<Filled> {
  const server = await startPostgres({ isDurable: true, settings: { shared_buffers: '512MB' } });
  const url = await server.createDatabase('bench');
  const options = { poolMax: POOL_MAX, statementTimeoutMs: 0, tls: null, schema: null };
  const pool = createPostgresPool(
    { address: parsePostgresUrl(url), ...options },
    { readOnly: false, name: 'bench' },
  );
  const store = await openStore({ kind: 'postgres', pool });
  await fillPostgres(url, { conversations: CONVERSATIONS, eventsEach: EVENTS_EACH });
  const bare = await startBareServer(postgresRows(url, POOL_MAX));
  return { store, bare, close: () => server.close() };
}

async function main(): Promise<void> {
  const filled = values.store === 'postgres' ? await onPostgres() : await onSqlite();
  const wish = { userId: USER, name: null, scope: 'user', now: 0, notBefore: null, expiresAt: null } as const;
  const { key } = await issueKey(filled.store.apiKeys, wish);
  const server = await serve(filled.store);
  const load = startLoad();
  const header = `${values.store}: ${CONVERSATIONS} conversations, ${EVENTS_EACH} events each, ${CLIENTS} clients`;
  console.log(header);
  const sides = {
    bare: { url: filled.bare.url, headers: {} },
    parley: { url: server.url, headers: { authorization: `Bearer ${key}` } },
  };
  const parts = Object.keys(PATHS) as Part[];
  for (const part of parts.filter((one) => values.only === undefined || one === values.only))
    await compare(part, sides, load);
  load.end();
  await Promise.all([server.close(), filled.bare.close()]);
  await filled.store.close();
  await filled.close();
}

interface Side {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** In turns, so that both see the same machine; the first turn of each is not counted. */
async function compare(
  part: Part,
  sides: Readonly<Record<'bare' | 'parley', Side>>,
  load: LoadProcess,
): Promise<void> {
  const took = { bare: [] as number[], parley: [] as number[] };
  const cpu = { bare: 0, parley: 0 };
  const requests = Number(values.requests);
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const name of ['bare', 'parley'] as const) {
      const before = process.cpuUsage();
      const figures = await load.run({
        ...sides[name],
        ...{ path: PATHS[part][name], clients: CLIENTS, requests, conversations: CONVERSATIONS },
      });
      const { user, system } = process.cpuUsage(before);
      if (round === 0) continue;
      took[name].push(...figures);
      cpu[name] += user + system;
    }
  }
  for (const name of ['bare', 'parley'] as const) {
    const each = cpu[name] / took[name].length / MICROSECONDS;
    const [p50, p99] = [percentile(took[name], 0.5).toFixed(1), percentile(took[name], 0.99).toFixed(1)];
    console.log(
      `${part.padEnd(14)} ${name.padEnd(7)} p50 ${p50} ms  p99 ${p99} ms  processor ${each.toFixed(3)} ms`,
    );
  }
  const processor = (cpu.parley / cpu.bare).toFixed(2);
  for (const share of [0.5, 0.99])
    show(
      {
        what: `${values.store}, ${part}, p${share * 100} to the bare route`,
        value: percentile(took.parley, share) / percentile(took.bare, share),
        ...{ unit: 'times', aim: ['≤', 1.5] },
      },
      `processor ${processor} times, load ${machineLoad()}`,
    );
}

if (process.argv.includes(LOAD_ARGUMENT)) serveLoad();
else await main();
