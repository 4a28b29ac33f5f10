/** What comes over time: items of the job and conversations of the API, by list, by distribution, by rate. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { ScenarioArrivals } from '../../dsl/scenario/scenario.ts';
import { exponential, fixed } from '../../simulator/models/distribution.ts';
import { RandomStream } from '../../simulator/random.ts';
import { arrivalOffsets } from '../../simulator/scenario/play-scenario.ts';
import { plan } from '../conformance/script-parts.ts';
import { playing, seenAt } from './scenario-parts.ts';

const WORK_MS = 18 * MINUTE_MS;
/** Every item works for 18 minutes. */
const even = { model: { default: { gaps: [], duration: fixed(WORK_MS) }, rules: [] } };
const items = (at: readonly number[]) => ({
  arrivals: { items: { kind: 'at', atMs: at } as const, conversations: null },
});
const visitors = (conversations: ScenarioArrivals) => ({ arrivals: { items: null, conversations } });
const offsets = (arrivals: ScenarioArrivals, seed: number) =>
  arrivalOffsets(arrivals, new RandomStream(seed));

describe('arrivals by chance', () => {
  it.each([1, 2, 4711])('come as often as their rate says, under seed %i', (seed) => {
    const mean = 2 * MINUTE_MS;
    const times = offsets({ kind: 'gaps', gap: exponential(mean), count: 20_000 }, seed);
    expect((times.at(-1) ?? 0) / times.length / mean).toBeGreaterThan(0.97);
    expect((times.at(-1) ?? 0) / times.length / mean).toBeLessThan(1.03);
    // As many as the mean in a stretch of ten means, with the scatter of a Poisson process: its variance is its mean.
    const counts = new Map<number, number>();
    for (const at of times)
      counts.set(Math.floor(at / (10 * mean)), (counts.get(Math.floor(at / (10 * mean))) ?? 0) + 1);
    const all = Array.from({ length: Math.floor(times.length / 10) - 100 }, (_, at) => counts.get(at) ?? 0);
    const average = all.reduce((sum, one) => sum + one, 0) / all.length;
    const variance = all.reduce((sum, one) => sum + (one - average) ** 2, 0) / all.length;
    expect(variance / average).toBeGreaterThan(0.85);
    expect(variance / average).toBeLessThan(1.15);
  });

  it('are the same for the same seed, never before one another, and one more changes none of them', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 60 }), fc.nat(HOUR_MS), (seed, count, mean) => {
        const some = offsets({ kind: 'gaps', gap: exponential(mean), count }, seed);
        const more = offsets({ kind: 'gaps', gap: exponential(mean), count: count + 1 }, seed);
        expect(more.slice(0, count)).toEqual(some);
        expect([...more].sort((a, b) => a - b)).toEqual(more);
      }),
    );
  });
});

describe('items that come over time', () => {
  const at = [0, 30 * MINUTE_MS, 30 * MINUTE_MS, 5 * HOUR_MS];

  it('begin when they come, and the run ends with the last one', () => {
    const { plan: answer } = playing({ ...even, ...items(at), plan: plan(4) });
    const startAt = 1_700_000_000_000;
    expect(answer.conversations.map(({ stretches }) => (stretches[0]?.from ?? 0) - startAt)).toEqual(at);
    expect(answer.conversations.map(({ outcome }) => outcome)).toEqual(Array(4).fill('succeeded'));
    expect(answer.makespanMs).toBeGreaterThan(5 * HOUR_MS + WORK_MS);
    expect(answer.makespanMs).toBeLessThan(5 * HOUR_MS + WORK_MS + 5 * MINUTE_MS);
    expect(answer.violations).toEqual([]);
  });

  it('wait for their turn from then on, and keep nobody waiting before', () => {
    const one = { admission: { concurrency: 1 } };
    const late = [HOUR_MS, 0, 0];
    const { plan: answer } = playing({ ...even, ...items(late), plan: plan(3, one) });
    const startsAt = answer.conversations.map(
      ({ stretches }) => stretches.find(({ as }) => as === 'starting')?.from,
    );
    expect((startsAt[1] ?? 0) < (startsAt[2] ?? 0) && (startsAt[2] ?? 0) < (startsAt[0] ?? 0)).toBe(true);
  });

  it('are told as what the run waits for', () => {
    const { run, convs, capacity } = seenAt(2 * HOUR_MS, { ...even, ...items(at), plan: plan(4) });
    expect(run).toMatchObject({ phase: 'running', waiting: 1n, in_flight: 0n, ended: 3n });
    expect(convs[3]).toMatchObject({ phase: 'queued', attempts: 0n });
    expect(capacity.in_use).toBe(0n);
  });

  it('that a cancelled run never sees were never queued', () => {
    const cancel = {
      atMs: HOUR_MS,
      action: { do: 'cancel_run' },
      span: { line: 1, column: 1, endLine: 1, endColumn: 2 },
    } as const;
    const { plan: answer } = playing({ ...even, ...items(at), plan: plan(4), events: [cancel] });
    expect(answer.conversations[3]).toMatchObject({ outcome: 'cancelled', attempts: 0 });
    expect(answer.conversations[3]?.stretches.map(({ as }) => as)).toEqual(['ended']);
  });
});

describe('conversations that come over the API', () => {
  const three = visitors({ kind: 'at', atMs: [MINUTE_MS, 2 * MINUTE_MS, 3 * HOUR_MS] });

  it('hold slots beside the run, and are counted', () => {
    const seen = seenAt(10 * MINUTE_MS, { ...even, ...three, plan: plan(1) });
    expect(seen.summary).toMatchObject({ arrived: 2n, refused: 0n, sandboxes: 3n });
    expect(seen.capacity.in_use).toBe(3n);
    expect(seen.convs).toHaveLength(1);
    expect(seenAt(4 * HOUR_MS, { ...even, ...three, plan: plan(1) }).summary).toMatchObject({ arrived: 3n });
  });

  it('are refused where no slot is free, and wait where the deployment says so', () => {
    const policy = (onFull: 'refuse' | 'queue') => ({
      policy: { sandboxesMax: 1, sandboxesPerUserMax: 1, onFull },
    });
    const change = { ...even, ...three, plan: plan(1) };
    expect(seenAt(10 * MINUTE_MS, { ...change, ...policy('refuse') }).summary).toMatchObject({
      arrived: 2n,
      refused: 2n,
      sandboxes: 1n,
    });
    const queued = seenAt(10 * HOUR_MS, { ...change, ...policy('queue') });
    expect(queued.summary).toMatchObject({ arrived: 3n, refused: 0n, sandboxes: 4n });
    expect(queued.capacity.peak).toBe(1n);
  });

  it('by the same seed leave the same trace', () => {
    const gaps = visitors({ kind: 'gaps', gap: exponential(10 * MINUTE_MS), count: 30 });
    const hashOf = (seed: number) => playing({ ...even, ...gaps }, { seed }).plan.hash;
    expect(hashOf(3)).toBe(hashOf(3));
    expect(hashOf(3)).not.toBe(hashOf(4));
  });
});
