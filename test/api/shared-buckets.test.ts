/** Rate limits of several services: how far they go over what is counted in common, and what they do without it. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AHEAD_MAX, SharedBuckets } from '../../api/rates/shared-buckets.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { RateLimit, RateMeter } from '../../ports/rate-meter.ts';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { openStore } from '../../store/open-store.ts';
import { parsePostgresUrl } from '../../store/sql/postgres-address.ts';
import { createPostgresPool } from '../../store/sql/postgres-pool.ts';
import { describeWith } from '../helpers/requires.ts';

const ALL_MS_MAX = 120_000;
const SERVICES = 3;

async function isTaken(buckets: SharedBuckets, caller = 'key/1'): Promise<boolean> {
  return await buckets.take(caller).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ParleyError && error.code === 'rate_limited') return false;
      throw error;
    },
  );
}

/** So many requests of one caller at once at each of them: how many were taken. */
async function takenAtOnce(services: readonly SharedBuckets[], each: number): Promise<number> {
  const asked = services.flatMap((one) => Array.from({ length: each }, () => isTaken(one)));
  return (await Promise.all(asked)).filter(Boolean).length;
}

const services = (limit: RateLimit, meters: readonly (RateMeter | null)[]): readonly SharedBuckets[] =>
  meters.map((meter) => new SharedBuckets(limit, { clock: systemClock, meter }));

describeWith('postgres', 'rate limits of services on one database', () => {
  let server: PostgresServerProcess;
  beforeAll(async () => {
    server = await startPostgres();
    await server.createDatabase('rates');
  }, ALL_MS_MAX);
  afterAll(() => server.close());

  /** As that of a process. */
  async function openMeter(): Promise<RateMeter> {
    const at = {
      address: parsePostgresUrl(server.url('rates')),
      ...{ poolMax: 2, statementTimeoutMs: 30_000, tls: null, schema: null },
    };
    const pool = createPostgresPool(at, { readOnly: false, name: 'parley test' });
    const store = await openStore({ kind: 'postgres', pool });
    onTestFinished(() => store.close());
    if (store.rateMeter === null) throw new Error('there is no meter');
    return store.rateMeter;
  }

  const openMeters = async (): Promise<readonly RateMeter[]> => {
    await server.run('delete from rate_bucket', 'rates').catch(() => undefined);
    const meters: RateMeter[] = [];
    while (meters.length < SERVICES) meters.push(await openMeter());
    return meters;
  };

  it(
    'are one limit at a burst, but for what is on its way',
    async () => {
      const limit = { burst: 100, perSecond: 0.001 };
      const all = services(limit, await openMeters());
      const taken = await takenAtOnce(all, 150);
      expect(taken).toBeGreaterThanOrEqual(limit.burst);
      expect(taken).toBeLessThanOrEqual(limit.burst + SERVICES * AHEAD_MAX);
      // What was too much is taken off what comes.
      expect(await takenAtOnce(all, 10)).toBe(0);
    },
    ALL_MS_MAX,
  );

  it(
    'are one limit in the long run, whichever service is asked',
    async () => {
      const limit = { burst: 20, perSecond: 50 };
      const all = services(limit, await openMeters());
      const began = performance.now();
      let taken = 0;
      while (performance.now() - began < 4_000) {
        taken += await takenAtOnce(all, 5);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const allowed = limit.burst + (limit.perSecond * (performance.now() - began)) / 1_000;
      expect(taken).toBeLessThanOrEqual(allowed + SERVICES * AHEAD_MAX);
      expect(taken).toBeGreaterThan(allowed / 2);
    },
    ALL_MS_MAX,
  );

  it(
    'count each caller for itself, whatever it is called, and 10,000 in one report',
    async () => {
      const [meter] = await openMeters();
      const limit = { burst: 10, perSecond: 0.001 };
      const odd = ["key/'; drop table rate_bucket; --", 'nul \u0000', '\u001b[2J', '<b>', '\ud800'];
      const used = new Map([
        ...odd.map((name, index) => [name, index] as const),
        ...Array.from({ length: 10_000 }, (_, index) => [`address/${index}`, 1] as const),
      ]);
      expect((await meter?.settle(limit, used))?.size).toBe(used.size);
      const again = (await meter?.settle(limit, used)) ?? new Map<string, number>();
      for (const [name, count] of used) expect(again.get(name)).toBeCloseTo(limit.burst - 2 * count, 1);
    },
    ALL_MS_MAX,
  );
});

describe('rate limits of a service', () => {
  const limit = { burst: 100, perSecond: 0.001 };

  it('are its own where nothing is shared', async () => {
    expect(await takenAtOnce(services(limit, [null]), 150)).toBe(limit.burst);
  });

  it.each([
    ['refuses', () => Promise.reject(new ParleyError('store_unavailable', 'Cannot count'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('are its own while the store %s', async (_what, settle) => {
    const began = performance.now();
    expect(await takenAtOnce(services(limit, [{ settle }]), 150)).toBe(limit.burst);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('are those of all again once the store is back', async () => {
    let isAway = true;
    const meter: RateMeter = {
      settle: (_limit, used) =>
        isAway
          ? Promise.reject(new Error('it is away'))
          : Promise.resolve(new Map([...used.keys()].map((caller) => [caller, -1]))),
    };
    let now = 0;
    const clock = { ...systemClock, now: () => now };
    const buckets = new SharedBuckets(limit, { clock, meter });
    for (let index = 0; index < 30; index += 1) expect(await isTaken(buckets)).toBe(true);
    isAway = false;
    now += 10_000;
    const taken: boolean[] = [];
    for (let index = 0; index < 30; index += 1) taken.push(await isTaken(buckets));
    expect(taken.filter(Boolean).length).toBeLessThanOrEqual(AHEAD_MAX);
    expect(taken.at(-1)).toBe(false);
  });
});
