/**
 * What a read of the application API costs beside a bare route over the same rows of SQLite, in the same run.
 * Owns what is compared; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import type { World } from '../activities/world.ts';
import { dialectOf } from '../api/application/dialect.ts';
import { APPLICATION_ROUTES } from '../api/application/routes.ts';
import { startApplicationServer, type ApplicationServer } from '../api/application/server.ts';
import { issueKey } from '../api/keys/issue-key.ts';
import { systemClock } from '../engine/system-clock.ts';
import { createKeyMinter } from '../store/key-minter.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { sealKey } from '../store/seal-key.ts';
import { startBareServer } from './api/bare-server.ts';
import { conversationNumber, fill, TAG, USER } from './api/filled-store.ts';

const { values } = parseArgs({
  options: {
    conversations: { type: 'string', default: '1000' },
    events: { type: 'string', default: '20' },
    requests: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
  },
});
const CONVERSATIONS = Number(values.conversations);
const CLIENTS = 50;
const NO_LIMIT = { burst: 1e9, perSecond: 1e9 };

interface Contender {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly paths: Readonly<Record<Part, (index: number) => string>>;
}
type Part = 'get' | 'search by tag' | 'events page';
const PARTS: readonly Part[] = ['get', 'search by tag', 'events page'];

async function serve(store: Store): Promise<ApplicationServer> {
  const world = {
    ...store,
    clock: systemClock,
    keys: createKeyMinter(sealKey(new Uint8Array(32))),
  } as unknown as World;
  const { search, startTasks, apiKeys, documents, audit, eventSearch } = store;
  const never = (): Promise<never> => Promise.reject(new Error('nothing is changed here'));
  const application = {
    ...{ search, startTasks, apiKeys, documents, audit, eventSearch, world },
    requests: { deliver: never },
    relay: { connect: never },
    dialect: dialectOf('spec'),
    models: [],
    publicUrl: () => 'http://127.0.0.1',
    randomHex: () => '0',
    version: '0',
  };
  return await startApplicationServer(application, {
    host: '127.0.0.1',
    port: 0,
    routes: APPLICATION_ROUTES,
    rateLimits: { perKey: NO_LIMIT, refusals: NO_LIMIT },
    log: () => undefined,
  });
}

/** Milliseconds of each call. */
async function load({ url, headers, paths }: Contender, part: Part): Promise<readonly number[]> {
  const pool = new Pool(url, { connections: CLIENTS, pipelining: 1 });
  const took: number[] = [];
  let left = Number(values.requests);
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const wanted = paths[part]((left * 7_919) % CONVERSATIONS);
      const began = performance.now();
      const { statusCode, body } = await pool.request({ path: wanted, method: 'GET', headers });
      const text = await body.text();
      took.push(performance.now() - began);
      if (statusCode !== 200 || text.length < 100) throw new Error(`${wanted}: ${statusCode} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await pool.close();
  return took;
}

function quantile(figures: readonly number[], share: number): number {
  return figures.toSorted((a, b) => a - b)[Math.floor((figures.length - 1) * share)] ?? Number.NaN;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-api-'));
  const file = path.join(folder, 'parley.db');
  const store = await openStore({ kind: 'sqlite', path: file });
  await fill(store, { conversations: CONVERSATIONS, eventsEach: Number(values.events) });
  const wish = { userId: USER, name: null, scope: 'user', now: 0, notBefore: null, expiresAt: null } as const;
  const { key } = await issueKey(store.apiKeys, wish);
  const [server, bare] = [await serve(store), await startBareServer(file)];
  const contenders: Readonly<Record<'bare' | 'parley', Contender>> = {
    bare: {
      url: bare.url,
      headers: {},
      paths: {
        get: (index) => `/get/${conversationNumber(index)}`,
        'search by tag': () => '/search',
        'events page': (index) => `/events/${conversationNumber(index)}`,
      },
    },
    parley: {
      url: server.url,
      headers: { authorization: `Bearer ${key}` },
      paths: {
        get: (index) => `/api/v1/app-conversations?ids=${conversationNumber(index)}`,
        'search by tag': () => `/api/v1/app-conversations/search?tag=${TAG.key}%3D${TAG.value}&limit=20`,
        'events page': (index) => `/api/v1/conversation/${conversationNumber(index)}/events/search?limit=100`,
      },
    },
  };
  console.log(`${CONVERSATIONS} conversations, ${values.events} events each, ${CLIENTS} clients`);
  for (const part of PARTS) await compare(part, contenders);
  await Promise.all([server.close(), bare.close()]);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

/** In turns, so that both see the same machine; the first turn of each is not counted. */
async function compare(part: Part, { bare, parley }: Readonly<Record<'bare' | 'parley', Contender>>) {
  const took = { bare: [] as number[], parley: [] as number[] };
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const [one, other] = [await load(bare, part), await load(parley, part)];
    if (round === 0) continue;
    took.bare.push(...one);
    took.parley.push(...other);
  }
  for (const [name, figures] of Object.entries(took))
    console.log(
      `${part.padEnd(14)} ${name.padEnd(7)} p50 ${quantile(figures, 0.5).toFixed(1)} ms  p99 ${quantile(figures, 0.99).toFixed(1)} ms`,
    );
  const ratio = (share: number): string =>
    (quantile(took.parley, share) / quantile(took.bare, share)).toFixed(2);
  console.log(
    `${part.padEnd(14)} ratio   p50 ${ratio(0.5)}  p99 ${ratio(0.99)}  load ${loadavg()[0]?.toFixed(1)}`,
  );
}

await main();
