/** A campaign's cases: they break nothing, are the same every time, aim where they say, and failing ones become short. */
import { describe, expect, it } from 'vitest';
import { FAULT_CLASSES, FAULT_NAMES } from '../../simulator/faults/catalogue.ts';
import { faultKey } from '../../simulator/faults/injector.ts';
import { AIMS, aimName, aimOf, aimSeed } from '../../simulator/campaign/aims.ts';
import { randomCase } from '../../simulator/campaign/random-case.ts';
import { runCase, type CaseResult } from '../../simulator/campaign/run-case.ts';
import { HITS_WANTED, SeedOrder } from '../../simulator/campaign/seed-order.ts';
import { shrinkCase } from '../../simulator/campaign/shrink.ts';
import { summaryOf, Tally } from '../../simulator/campaign/tally.ts';
import { IMPOSSIBLE, PAIRS, TRANSITIONS, transitionName } from '../../simulator/campaign/transitions.ts';
import type { CaseSubset } from '../../simulator/campaign/case-subset.ts';
import { DAY_MS } from '../../core/time.ts';

const SEEDS = 36;
const PER_TEST = 6;

describe('the cases of a campaign', () => {
  it.each(Array.from({ length: SEEDS / PER_TEST }, (_, group) => group * PER_TEST))(
    'break no invariant, seeds from %i',
    (from) => {
      for (let seed = from; seed < from + PER_TEST; seed += 1) {
        const { violations, events, simulatedMs } = runCase({ seed });
        expect({ seed, violations }).toEqual({ seed, violations: [] });
        expect(events).toBeGreaterThan(50);
        expect(simulatedMs).toBeGreaterThanOrEqual(2 * DAY_MS);
      }
    },
    600_000,
  );

  it('are the same every time, and when the faults that struck are played as a schedule', () => {
    for (const seed of [2, 5, 8, 11]) {
      const first = runCase({ seed });
      const second = runCase({ seed });
      expect(second).toEqual(first);
      const schedule = runCase({ seed, keep: { faults: first.injected.map(faultKey) } });
      expect(schedule.hash).toBe(first.hash);
      expect(schedule.injected).toEqual(first.injected);
    }
  });

  it('differ from seed to seed', () => {
    const hashes = [0, 2, 4, 6].map((seed) => runCase({ seed }).hash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('hold policies, models and mixes of every kind', () => {
    const cases = Array.from({ length: 300 }, (_, seed) => randomCase(seed));
    const seen = <Value>(of: (one: (typeof cases)[number]) => Value) => new Set(cases.map(of));
    expect(seen(({ policy }) => policy.onFull).size).toBe(3);
    expect(seen(({ policy }) => policy.limits.idleTimeMs === null).size).toBe(2);
    expect(seen(({ policy }) => policy.limits.deletionTimeMs === null).size).toBe(2);
    expect(cases.every(({ safetyMs }) => safetyMs >= DAY_MS)).toBe(true);
    const kinds = new Set(cases.flatMap(({ mix }) => Object.keys(mix)));
    expect([...kinds].sort()).toEqual([...FAULT_NAMES].sort());
    const plans = cases.flatMap(({ actions }) =>
      actions.flatMap(({ action }) => ('plan' in action ? [action.plan] : [])),
    );
    expect(new Set(plans.map(({ cleanup }) => cleanup.sandbox)).size).toBe(3);
    expect(new Set(plans.map(({ wait }) => wait.onSessionLimit)).size).toBe(2);
  });
});

describe('aims', () => {
  it('are found by seed alone, from any first seed on', () => {
    for (const from of [0, 7, 100_000])
      for (const [index, aim] of AIMS.entries()) {
        const seeds = [0, 1].map((round) => aimSeed(index, round, from));
        for (const seed of seeds) expect([seed >= from, aimOf(seed)]).toEqual([true, aim]);
        expect(new Set(seeds).size).toBe(2);
      }
    expect(aimOf(4)).toBeNull();
  });

  it('cover every kind, and every transition under every class but what is called impossible', () => {
    expect(new Set(AIMS.map(aimName)).size).toBe(FAULT_NAMES.length + PAIRS.length);
    expect(PAIRS.length).toBe(
      TRANSITIONS.length * FAULT_CLASSES.length - IMPOSSIBLE.length * FAULT_CLASSES.length,
    );
    const names = TRANSITIONS.map(transitionName);
    for (const { transition, reason } of IMPOSSIBLE) {
      expect(names).toContain(transition);
      expect(reason).not.toBe('');
    }
  });

  it('strike: a case that aims at a kind has hits of it', () => {
    for (const fault of ['worker_zombie', 'tell_repeated', 'client_burst', 'store_restart'] as const) {
      const index = AIMS.findIndex((aim) => aimName(aim) === fault);
      const { coverage } = runCase({ seed: aimSeed(index, 0, 0) });
      expect({ fault, hits: (coverage.faults[fault] ?? 0) > 0 }).toEqual({ fault, hits: true });
    }
  });
});

describe('the order of seeds', () => {
  it('begins with the first seed, and goes to what is behind once something is known', () => {
    const tally = new Tally();
    const order = new SeedOrder(40);
    expect(order.take(tally)).toBe(40);
    const [common] = FAULT_NAMES;
    const coverage = { faults: { [common ?? '']: HITS_WANTED }, transitions: {}, cells: {}, pairs: {} };
    tally.add({ seed: 40, violations: [], events: 1, simulatedMs: 1, coverage, hash: '' });
    const aims = Array.from({ length: 30 }, () => aimOf(order.take(tally)));
    expect(aims.filter((aim) => aim !== null).length).toBeGreaterThan(15);
    expect(aims.some((aim) => aim?.kind === 'fault' && aim.fault === common)).toBe(false);
    expect(order.isCovered(tally)).toBe(false);
  });

  it('adds up what cases came to', () => {
    const tally = new Tally();
    const result = runCase({ seed: 6 });
    tally.add(summaryOf(result));
    tally.add(summaryOf(result));
    expect(tally.runs).toBe(2);
    expect(tally.events).toBe(2 * result.events);
    expect(tally.eventsMedian).toBe(result.events);
    for (const fault of FAULT_NAMES)
      expect(tally.hits('faults', fault)).toBe(2 * (result.coverage.faults[fault] ?? 0));
    expect(tally.injected).toBe(2 * result.injected.length);
  });
});

/** An invariant that is none: it breaks when a fault of the kind has struck and a sandbox was let go for idleness. */
function doctored(result: CaseResult, kind: string): CaseResult {
  const struck = result.injected.find(({ fault }) => fault === kind);
  const paused = (result.coverage.transitions['sandbox running > pausing by idleReached'] ?? 0) > 0;
  if (struck === undefined || !paused) return { ...result, violations: [] };
  const problem = 'it is only doctored';
  return { ...result, violations: [{ name: 'X', at: struck.at, sequence: null, entity: 'none', problem }] };
}

describe('shrinking', () => {
  it('leaves one fault and few actions of a doctored failure, the same every time', () => {
    const index = AIMS.findIndex((aim) => aimName(aim) === 'tell_repeated');
    const seeds = [0, 1, 2, 3, 4, 5].map((round) => aimSeed(index, round, 0));
    const fails = (one: number) => doctored(runCase({ seed: one }), 'tell_repeated').violations.length > 0;
    const seed = seeds.find(fails) ?? -1;
    const play = (keep: CaseSubset) => doctored(runCase({ seed, keep }), 'tell_repeated');
    const whole = play({});
    expect(whole.violations).toHaveLength(1);
    const shrunk = shrinkCase(seed, play, 150);
    expect(shrunk?.result.violations[0]?.name).toBe('X');
    expect(shrunk?.keep.faults).toHaveLength(1);
    expect(shrunk?.keep.actions?.length).toBeLessThan(randomCase(seed).actions.length / 4);
    expect(shrunk?.result.events).toBeLessThan(whole.events / 4);
    expect(play(shrunk?.keep ?? {}).hash).toBe(shrunk?.result.hash);
    expect(shrinkCase(seed, play, 150)?.keep).toEqual(shrunk?.keep);
  }, 600_000);

  it('keeps to its number of tries, and has nothing to do where nothing is broken', () => {
    let tries = 0;
    const play = (keep: CaseSubset) => {
      tries += 1;
      return doctored(
        runCase({ seed: 3, keep }),
        FAULT_NAMES.find((fault) => (keep.faults ?? [fault]).includes(fault)) ?? '',
      );
    };
    expect(shrinkCase(3, (keep) => ({ ...play(keep), violations: [] }))).toBeNull();
    expect(tries).toBe(1);
  });
});
