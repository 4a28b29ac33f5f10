/** Hosts on the virtual clock: where sandboxes go, and what becomes of them when a host drains, is slow, cut off or lost (D33). */
import { describe, expect, it } from 'vitest';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { runCase } from '../../simulator/campaign/run-case.ts';
import { hostedCase, randomCase } from '../../simulator/campaign/random-case.ts';
import { befall, HOST_INCIDENT_NAMES, pass, type HostIncident } from '../../simulator/hosts/host-incident.ts';
import { leaseEndOf, type HostsSetting } from '../../simulator/hosts/host-setting.ts';
import type { HostWorkers } from '../../simulator/hosts/host-workers.ts';
import { PlanPlay } from '../../simulator/plan-play.ts';
import { plan, POLICY } from '../conformance/script-parts.ts';
import { question } from './questions.ts';

const LEASE_MS = MINUTE_MS;
const TWO: HostsSetting = {
  strategy: 'spread',
  leaseMs: LEASE_MS,
  hosts: [
    { name: 'a', capacity: 2 },
    { name: 'b', capacity: 4 },
  ],
};

interface Struck extends HostIncident {
  readonly atMs: number;
}

/** Twelve items of 18 minutes each, every one in a sandbox of its own. */
function played(setting: HostsSetting, incidents: readonly Struck[] = [], count = 12) {
  const { startAt, ...asked } = question(count);
  const policy = { ...POLICY, hosts: setting };
  const play = new PlanPlay({ ...asked, startAt, policy, checks: true });
  const hosts = play.world.hosts as HostWorkers;
  for (const incident of incidents) {
    play.simulation.script(startAt + incident.atMs, () => befall(hosts, incident));
    play.simulation.script(startAt + incident.atMs + incident.forMs, () => pass(hosts, incident));
  }
  return { play, hosts, at: (ms: number) => play.advanceTo(startAt + ms), startAt };
}

const on = (hosts: HostWorkers): Record<string, number> =>
  Object.fromEntries([...hosts.all()].map(({ name, up }) => [name, up]));
const itemsOf = ({ play }: ReturnType<typeof played>): RunState['items'] => play.run?.items ?? [];
const sandboxesOf = ({ play }: ReturnType<typeof played>): readonly SandboxState[] =>
  [...play.simulation.all()].flatMap(({ address, state }) =>
    address.machine === 'sandbox' ? [state as SandboxState] : [],
  );
/** Everything has ended well, and no invariant is broken. */
function finished(one: ReturnType<typeof played>): void {
  one.at(20 * HOUR_MS);
  one.play.end();
  expect(one.play.violations).toEqual([]);
  expect(one.play.run?.phase).toBe('finished');
  expect(itemsOf(one).map(({ ending }) => ending?.outcome)).toEqual(itemsOf(one).map(() => 'succeeded'));
  expect(itemsOf(one).every(({ failures }) => Object.keys(failures).length === 0)).toBe(true);
}

describe('hosts in a simulated world', () => {
  it.each([
    ['spread', { a: 1, b: 2 }],
    ['pack', { a: 2, b: 1 }],
  ] as const)('are filled by %s', (strategy, expected) => {
    const one = played({ ...TWO, strategy }, [], 3);
    one.at(10 * MINUTE_MS);
    expect(on(one.hosts)).toEqual(expected);
    finished(one);
    expect(on(one.hosts)).toEqual({ a: 0, b: 0 });
  });

  it('take no more than they can, and the rest waits in the line', () => {
    const one = played(TWO);
    one.at(10 * MINUTE_MS);
    expect(on(one.hosts)).toEqual({ a: 2, b: 4 });
    finished(one);
  });

  it('that do not fit are left out', () => {
    const hosts = TWO.hosts.map((host) => ({ ...host, labels: { zone: host.name } }));
    const one = played({ ...TWO, hosts, pin: { labels: { zone: 'a' } } }, [], 3);
    one.at(10 * MINUTE_MS);
    expect(on(one.hosts)).toEqual({ a: 2, b: 0 });
    finished(one);
  });

  it('that drain get nothing new, and keep what they have', () => {
    const one = played(TWO, [{ name: 'host_drained', host: 'b', atMs: 10 * MINUTE_MS, forMs: 2 * HOUR_MS }]);
    one.at(11 * MINUTE_MS);
    expect(on(one.hosts)).toEqual({ a: 2, b: 4 });
    one.at(30 * MINUTE_MS);
    expect(on(one.hosts)).toEqual({ a: 2, b: 0 });
    finished(one);
  });

  it('that are slow take longer, and nothing else', () => {
    const slow: Struck = { name: 'host_slow', host: 'a', atMs: 0, forMs: 10 * HOUR_MS, times: 20 };
    const bootOf = (incidents: readonly Struck[]): readonly (number | null)[] => {
      const one = played(TWO, incidents, 2);
      one.at(15 * MINUTE_MS);
      const started = sandboxesOf(one).map((state) => [
        one.hosts.homeOf(state.sandboxId),
        (state.sessionStartedAt ?? 0) - state.createdAt,
      ]);
      finished(one);
      return ['a', 'b'].map((name) => Number(started.find(([home]) => home === name)?.[1]));
    };
    expect(bootOf([])).toEqual([4 * SECOND_MS, 4 * SECOND_MS]);
    expect(bootOf([slow])).toEqual([80 * SECOND_MS, 4 * SECOND_MS]);
  });

  it('that are lost take their sandboxes with them once the lease is over, and no try of an item', () => {
    const one = played(TWO, [{ name: 'host_lost', host: 'b', atMs: 10 * MINUTE_MS, forMs: HOUR_MS }]);
    one.at(10 * MINUTE_MS + LEASE_MS / 2);
    expect(sandboxesOf(one).every(({ status }) => status === 'RUNNING')).toBe(true);
    one.at(10 * MINUTE_MS + LEASE_MS);
    const lost = sandboxesOf(one).filter(({ sandboxId }) => one.hosts.homeOf(sandboxId) === 'b');
    expect(lost.map(({ status, detail }) => `${status} ${detail}`)).toEqual(
      lost.map(() => 'MISSING host_lost'),
    );
    expect(lost).toHaveLength(4);
    expect(one.hosts.givenUp.map(({ host }) => host)).toEqual(['b']);
    finished(one);
    expect(
      itemsOf(one)
        .map(({ hostsLost = 0 }) => hostsLost)
        .reduce((sum, count) => sum + count, 0),
    ).toBe(4);
    // Another machine has the name by now, and works.
    expect([...one.hosts.all()].map(({ leaseUntil }) => leaseUntil)).toEqual([null, null]);
  });

  it('that are given up later than their lease keep what they have until then', () => {
    const incident: Struck = { name: 'host_lost', host: 'b', atMs: 10 * MINUTE_MS, forMs: HOUR_MS };
    const one = played({ ...TWO, silentMs: 5 * MINUTE_MS }, [incident]);
    one.at(14 * MINUTE_MS);
    expect(one.hosts.givenUp).toEqual([]);
    one.at(16 * MINUTE_MS);
    expect(one.hosts.givenUp).toHaveLength(1);
    finished(one);
  });

  it('that are cut off for less than a lease go on where they were', () => {
    const one = played(TWO, [
      { name: 'host_cut_off', host: 'b', atMs: 10 * MINUTE_MS, forMs: 30 * SECOND_MS },
    ]);
    finished(one);
    expect(one.hosts.givenUp).toEqual([]);
    expect(itemsOf(one).every(({ hostsLost = 0, attempt }) => hostsLost === 0 && attempt === 1)).toBe(true);
  });

  it('that are cut off for longer work on where nobody sees it, and come back with an old fence', () => {
    const one = played(TWO, [{ name: 'host_cut_off', host: 'b', atMs: 10 * MINUTE_MS, forMs: HOUR_MS }]);
    one.at(20 * MINUTE_MS);
    const lost = sandboxesOf(one).filter(({ sandboxId }) => one.hosts.homeOf(sandboxId) === 'b');
    expect(lost.map(({ status }) => status)).toEqual(lost.map(() => 'MISSING'));
    const alive = (): number =>
      lost.filter(({ sandboxId }) => one.play.world.runtime.live.has(sandboxId)).length;
    expect(alive()).toBe(4);
    expect(lost.some(({ sandboxId }) => one.play.world.live.has(sandboxId))).toBe(false);
    one.at(10 * MINUTE_MS + HOUR_MS);
    expect(alive()).toBe(0);
    // Taken first, ended by the others, and taken again.
    expect([...one.hosts.all()].map(({ fence }) => fence)).toEqual([1, 3]);
    finished(one);
  });

  it('that are all lost leave their items to begin again when one is back', () => {
    const incidents = ['a', 'b'].map((host): Struck => ({
      name: 'host_lost',
      host,
      atMs: 10 * MINUTE_MS,
      forMs: 3 * HOUR_MS,
    }));
    const one = played(TWO, incidents);
    one.at(2 * HOUR_MS);
    expect(on(one.hosts)).toEqual({ a: 0, b: 0 });
    expect(itemsOf(one).some(({ phase }) => phase === 'ended')).toBe(false);
    finished(one);
  });

  it('renew six times in the time of a lease', () => {
    expect(leaseEndOf(60_000, 0, 0)).toBe(60_000);
    expect(leaseEndOf(60_000, 0, 9_999)).toBe(60_000);
    expect(leaseEndOf(60_000, 0, 10_000)).toBe(70_000);
    expect(leaseEndOf(60_000, 500, 100_000)).toBe(150_500);
  });

  it('change nothing where a policy names none', () => {
    const { startAt, ...asked } = question(3);
    const play = new PlanPlay({ ...asked, startAt, plan: plan(3) });
    expect(play.world.hosts).toBeNull();
  });
});

describe('the cases of a campaign with hosts', () => {
  it.each([1, 7, 13, 19])(
    'break no invariant, seeds from %i',
    (from) => {
      for (let seed = from; seed < from + 6; seed += 1) {
        const { violations } = runCase({ seed, hosts: true });
        expect({ seed, violations }).toEqual({ seed, violations: [] });
      }
    },
    600_000,
  );

  it('are the same every time, and lose hosts', () => {
    const first = runCase({ seed: 4, hosts: true });
    expect(runCase({ seed: 4, hosts: true })).toEqual(first);
    expect(Object.keys(first.coverage.transitions).some((name) => name.endsWith('by hostLost'))).toBe(true);
    expect(runCase({ seed: 4 }).hash).not.toBe(first.hash);
  });

  it('hold hosts and incidents of every kind, and leave the case without hosts as it is', () => {
    const cases = Array.from({ length: 200 }, (_, seed) => hostedCase(seed));
    const names = new Set(cases.flatMap(({ incidents }) => incidents.map(({ incident }) => incident.name)));
    expect([...names].sort()).toEqual([...HOST_INCIDENT_NAMES].sort());
    expect(new Set(cases.map(({ policy }) => policy.hosts?.strategy)).size).toBe(2);
    expect(new Set(cases.map(({ policy }) => policy.hosts?.pin === undefined)).size).toBe(2);
    expect(randomCase(4)).toMatchObject({ incidents: [], actions: hostedCase(4).actions });
    expect(randomCase(4).policy.hosts).toBeUndefined();
  });
});
