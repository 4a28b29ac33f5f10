/** Pools of runs in which a bound is broken: size, places, recycling, strangers, strays. Owns the cases; dealings.test.ts shows them to their checker. */
import type { ConversationState } from '../../core/conversation/state.ts';
import { conversationId, runId, type RunId, type SandboxId } from '../../core/ids.ts';
import type { RunItem, RunState } from '../../core/run/state.ts';
import type { WorldFacts } from '../../simulator/world-facts.ts';
import { POLICY } from '../conformance/script-parts.ts';
import { POOL } from '../core/run-life.ts';
import { BOX, box2, conversation, NOW, run, running, type Case, type Doctored } from './doctored.ts';

const RUN = runId('r');
const [FIRST, SECOND] = [1, 2].map((number) => conversationId(`c${number}`.padStart(32, '0')));

const runWith = (pool: Partial<typeof POOL> = {}, change: Partial<RunState> = {}): Doctored => ({
  machine: 'run',
  after: { ...run(change), rules: { ...run().rules, pool: { ...POOL, size: 1, ...pool } } },
});

/** Sandboxes of the pool of the run, in the order in which they came. */
const pooled = (ids: readonly SandboxId[], change: Partial<WorldFacts> & { placed?: number } = {}) => {
  const { placed = 1, ...rest } = change;
  const joined = ids.map((sandboxId) => ({ sandboxId, poolId: RUN, joinedAt: NOW }));
  const ownerOf = (id: SandboxId): RunId | null => (ids.includes(id) ? RUN : null);
  const placedIn = (id: SandboxId): number => (id === BOX ? placed : 0);
  return { pools: { joined, ownerOf, placedIn }, ...rest };
};

interface Move {
  readonly sandboxId?: SandboxId;
  readonly run?: string | null;
  readonly explicit?: SandboxId;
}

/** A conversation is notified of its sandbox. */
const hears = (id: string | undefined, facts: Partial<WorldFacts>, move: Move = {}): Doctored => {
  const { sandboxId = BOX, run: of = 'r', explicit = null } = move;
  const before = conversation();
  const spec = { ...before.spec, runId: of as RunId | null, sandboxId: explicit };
  const after: ConversationState = { ...before, spec, phase: 'attaching', sandboxId };
  return { machine: 'conversation', id: id ?? '', before: { ...before, spec }, after, facts };
};

/** The first attempt of its first item was that of the first conversation, and is over. */
const attemptOver = (): Doctored => {
  const [item] = run().items;
  return runWith({}, { items: [{ ...(item as RunItem), past: [FIRST as NonNullable<typeof FIRST>] }] });
};
const one = pooled([BOX]);
const both = pooled([BOX, box2]);
const narrow = { ...POLICY, capacity: { ...POLICY.capacity, conversationsPerSandboxMax: 1 } };
const dead: Doctored = { machine: 'sandbox', after: { ...running, phase: 'missing', status: 'MISSING' } };
const silent = (facts: Partial<WorldFacts>): Doctored => ({ machine: 'sandbox', after: running, facts });

const cases: readonly Omit<Case, 'name' | 'machine'>[] = [
  { holds: [runWith(), silent(one)], broken: [runWith(), silent(both)] },
  { holds: [runWith(), dead, silent(both)], broken: [runWith(), silent(one), silent(both)] },
  {
    holds: [runWith(), silent({ ...both, isGoing: (id) => id === BOX })],
    broken: [runWith({ recycleAfter: 2 }), silent(both)],
  },
  // Recycled, and empty or not.
  {
    holds: [runWith({ recycleAfter: 1 }), silent(both)],
    broken: [runWith({ recycleAfter: 1 }), hears(FIRST, one), silent(both)],
  },
  {
    holds: [runWith({ recycleAgeMs: 1 }), { ...silent(both), at: NOW + 1 }],
    broken: [runWith({ recycleAgeMs: 2 }), { ...silent(both), at: NOW + 1 }],
  },
  // So much earlier as the clock of the machines, which say when a sandbox began, was off.
  {
    holds: [runWith({ recycleAgeMs: 2 }), { ...silent(both), at: NOW + 1, timeliness: { clockOffMs: 1 } }],
    broken: [runWith({ recycleAgeMs: 3 }), { ...silent(both), at: NOW + 1, timeliness: { clockOffMs: 1 } }],
  },
  {
    holds: [runWith({ maxPerSandbox: 2 }), hears(FIRST, one), hears(SECOND, one)],
    broken: [runWith(), hears(FIRST, one), hears(SECOND, one)],
  },
  {
    holds: [runWith(), hears(FIRST, one), attemptOver(), hears(SECOND, one)],
    broken: [
      runWith({ maxPerSandbox: 2 }),
      hears(FIRST, { ...one, policy: narrow }),
      hears(SECOND, { ...one, policy: narrow }),
    ],
  },
  {
    holds: [runWith({ recycleAfter: 2 }), hears(FIRST, pooled([BOX], { placed: 2 }))],
    broken: [runWith({ recycleAfter: 2 }), hears(FIRST, pooled([BOX], { placed: 3 }))],
  },
  // Whose it is, and who asked for it by name.
  {
    holds: [runWith(), hears(FIRST, one, { run: null, explicit: BOX })],
    broken: [runWith(), hears(FIRST, one, { run: null })],
  },
  {
    holds: [runWith(), hears(FIRST, one, { run: null, sandboxId: box2 })],
    broken: [runWith(), hears(FIRST, one, { run: 'another' })],
  },
  // Elsewhere than in its own pool.
  {
    holds: [runWith({ onFull: 'spill' }), hears(FIRST, one, { sandboxId: box2 })],
    broken: [runWith(), hears(FIRST, one, { sandboxId: box2 })],
  },
  {
    holds: [runWith(), hears(FIRST, one, { sandboxId: box2, explicit: box2 })],
    broken: [runWith({ onFull: 'fail' }), hears(FIRST, one, { sandboxId: box2 })],
  },
];

export const OF_POOLS: readonly Case[] = cases.map((one) => ({ name: 'R5', machine: 'run', ...one }));
