/** Which host gets a new sandbox: a table of the rules, and what holds for any hosts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseHost,
  HOST_STRATEGIES,
  type HostCandidate,
  type HostChoice,
  type HostRequirement,
} from '../../core/placement/choose-host.ts';

function host(name: string, changes: Partial<HostCandidate> = {}): HostCandidate {
  return {
    ...{ name, runtime: 'process', capacity: 10, up: 0, labels: {}, isLive: true, draining: false },
    ...changes,
  };
}

const SPREAD: HostRequirement = { runtime: 'process', strategy: 'spread' };
const PACK: HostRequirement = { runtime: 'process', strategy: 'pack' };

const full = (current: number, limit: number): Extract<HostChoice, { kind: 'full' }> => ({
  kind: 'full',
  current,
  limit,
});
const on = (name: string): HostChoice => ({ kind: 'chosen', name });

interface Case {
  readonly what: string;
  readonly required: HostRequirement;
  readonly hosts: readonly HostCandidate[];
  readonly choice: HostChoice;
}

const CASES: readonly Case[] = [
  {
    what: 'spreads to the emptiest',
    required: SPREAD,
    hosts: [host('a', { up: 3 }), host('b', { up: 1 }), host('c', { up: 2 })],
    choice: on('b'),
  },
  {
    what: 'packs into the fullest that has room',
    required: PACK,
    hosts: [host('a', { up: 3 }), host('b', { up: 10 }), host('c', { up: 2 })],
    choice: on('a'),
  },
  {
    what: 'goes by the share that is taken, not by the count',
    required: SPREAD,
    hosts: [host('large', { up: 20, capacity: 100 }), host('small', { up: 3, capacity: 4 })],
    choice: on('large'),
  },
  { what: 'breaks ties by name', required: SPREAD, hosts: [host('b'), host('a')], choice: on('a') },
  { what: 'breaks ties of packing by name', required: PACK, hosts: [host('b'), host('a')], choice: on('a') },
  {
    what: 'leaves out who drains, whose lease is over, and other runtimes',
    required: SPREAD,
    hosts: [
      host('a', { draining: true }),
      host('b', { isLive: false }),
      host('c', { runtime: 'docker' }),
      host('d', { up: 9 }),
    ],
    choice: on('d'),
  },
  {
    what: 'takes one that drains for what lives there',
    required: { ...SPREAD, name: 'a', alsoDraining: true },
    hosts: [host('a', { draining: true }), host('b')],
    choice: on('a'),
  },
  {
    what: 'takes the named one, though another is emptier',
    required: { ...SPREAD, name: 'b' },
    hosts: [host('a'), host('b', { up: 9 })],
    choice: on('b'),
  },
  {
    what: 'waits for the named one while it is away',
    required: { ...SPREAD, name: 'b' },
    hosts: [host('a'), host('b', { isLive: false })],
    choice: {
      ...full(0, 0),
      waitsFor: { said: 'the host "b", whose lease is over: start its worker on b', hosts: [] },
    },
  },
  {
    what: 'waits for the named one while it drains, and says how that ends',
    required: { ...SPREAD, name: 'b' },
    hosts: [host('a'), host('b', { draining: true, labels: { gpu: 'a100' } })],
    choice: {
      ...full(0, 0),
      waitsFor: { said: 'the host "b", which drains: parley hosts undrain b', hosts: [] },
    },
  },
  {
    what: 'is full without any words for who takes any',
    required: SPREAD,
    hosts: [host('a', { up: 10 })],
    choice: full(10, 10),
  },
  {
    what: 'is full with all that fit, and counts no others',
    required: { ...SPREAD, labels: { gpu: 'a100' } },
    hosts: [
      host('a', { labels: { gpu: 'a100' }, up: 10 }),
      host('b', { labels: { gpu: 'a100', zone: '1' }, up: 4, capacity: 4 }),
      host('c'),
    ],
    choice: {
      ...full(14, 14),
      waitsFor: { said: 'a host with the labels gpu: a100 (14 of 14 in use)', hosts: ['a', 'b'] },
    },
  },
  {
    what: 'asks for every label',
    required: { ...SPREAD, labels: { gpu: 'a100', zone: '1' } },
    hosts: [host('a', { labels: { gpu: 'a100' } }), host('b', { labels: { gpu: 'a100', zone: '1' } })],
    choice: on('b'),
  },
  {
    what: 'says whom it knows when nobody is called so',
    required: { ...SPREAD, name: 'zeta' },
    hosts: [host('b'), host('a')],
    choice: { kind: 'none', reason: 'there is no host "zeta", but a, b' },
  },
  {
    what: 'says which label nobody has',
    required: { ...SPREAD, labels: { toString: 'x' } },
    hosts: [host('a')],
    choice: { kind: 'none', reason: 'no host has the labels toString: x; there are a' },
  },
  {
    what: 'says which label the named one does not have',
    required: { ...SPREAD, name: 'a', labels: { gpu: 'a100' } },
    hosts: [host('a'), host('b', { labels: { gpu: 'a100' } })],
    choice: { kind: 'none', reason: 'the host "a" does not have the labels gpu: a100; there are a, b' },
  },
  {
    what: 'says that there is no host at all',
    required: SPREAD,
    hosts: [host('c', { runtime: 'docker' })],
    choice: { kind: 'none', reason: 'there is no host for the runtime "process"' },
  },
];

describe('the choice of a host', () => {
  it.each(CASES)('$what', ({ required, hosts, choice }) => {
    expect(chooseHost(required, hosts)).toEqual(choice);
  });
});

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 6 });
const labels = fc.dictionary(fc.constantFrom('gpu', 'zone'), fc.constantFrom('1', '2'));
const anyHosts = names.chain((all) =>
  fc.tuple(
    ...all.map((name) =>
      fc.record({
        name: fc.constant(name),
        runtime: fc.constantFrom('process', 'docker'),
        capacity: fc.integer({ min: 1, max: 5 }),
        up: fc.integer({ min: 0, max: 6 }),
        labels,
        isLive: fc.boolean(),
        draining: fc.boolean(),
      }),
    ),
  ),
);
const anyRequirement = fc.record(
  {
    runtime: fc.constantFrom('process', 'docker'),
    strategy: fc.constantFrom(...HOST_STRATEGIES),
    name: fc.constantFrom('a', 'b', 'z'),
    labels,
  },
  { requiredKeys: ['runtime', 'strategy'] },
);

describe('any choice of a host', () => {
  it('is one that may be taken, and there is one whenever one may', () => {
    fc.assert(
      fc.property(anyRequirement, anyHosts, (required, hosts) => {
        const may = hosts.filter(
          (one) =>
            one.runtime === required.runtime &&
            one.isLive &&
            !one.draining &&
            one.up < one.capacity &&
            (required.name === undefined || one.name === required.name) &&
            Object.entries(required.labels ?? {}).every(([key, value]) => one.labels[key] === value),
        );
        const choice = chooseHost(required, hosts);
        if (choice.kind === 'chosen') expect(may.map(({ name }) => name)).toContain(choice.name);
        else expect(may).toEqual([]);
      }),
    );
  });

  it('does not depend on the order in which hosts are listed', () => {
    fc.assert(
      fc.property(anyRequirement, anyHosts, (required, hosts) => {
        expect(chooseHost(required, [...hosts].reverse())).toEqual(chooseHost(required, hosts));
      }),
    );
  });

  it('fills hosts to the last place: as many as fit are taken, one after the other', () => {
    fc.assert(
      fc.property(anyRequirement, anyHosts, (required, hosts) => {
        let now: readonly HostCandidate[] = hosts;
        for (;;) {
          const choice = chooseHost(required, now);
          if (choice.kind !== 'chosen') break;
          now = now.map((one) => (one.name === choice.name ? { ...one, up: one.up + 1 } : one));
        }
        const grown = now.filter(({ name, up }) => up > (hosts.find((one) => one.name === name)?.up ?? 0));
        for (const { up, capacity } of grown) expect(up).toBe(capacity);
      }),
    );
  });
});
