/** Every checker of hosts can fail: each is shown a world in which its invariant is broken, and one in which it holds. */
import { describe, expect, it } from 'vitest';
import { HOST_LOSSES_MAX } from '../../core/limits.ts';
import type { RunItem } from '../../core/run/state.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { HOSTS_AT_REST, ofHosts } from '../../simulator/checkers/hosts/list-of-hosts.ts';
import type { HostAct, HostFacts, HostPlacement, HostView } from '../../simulator/hosts/host-facts.ts';
import { SIMULATED_USER } from '../../simulator/models/run-model.ts';
import {
  BOX,
  box2,
  conversation,
  facts,
  moment,
  NOW,
  rest,
  run,
  running,
  sandbox,
  TALK,
  talking,
  type Case,
  type Doctored,
} from './doctored.ts';

const LEASE_MS = MINUTE_MS;
const view = (name: string, change: Partial<HostView> = {}): HostView => ({
  name,
  capacity: 2,
  labels: { zone: name },
  draining: false,
  up: 0,
  fence: 1,
  leaseUntil: null,
  ...change,
});
const A = view('a');
const B = view('b');
const hosts = (change: Partial<HostFacts> = {}, setting: Partial<HostFacts['setting']> = {}): HostFacts => ({
  setting: { strategy: 'spread', leaseMs: LEASE_MS, hosts: [], ...setting },
  all: () => [A, B],
  homeOf: () => 'a',
  placements: [],
  refusals: [],
  acts: [],
  givenUp: [],
  isDisturbed: false,
  ...change,
});
const seeing = (change: Partial<HostFacts>, setting: Partial<HostFacts['setting']> = {}): Doctored => ({
  after: running,
  facts: { hosts: hosts(change, setting) },
});
const placement = (seen: readonly HostView[], change: Partial<HostPlacement> = {}): HostPlacement => ({
  at: NOW,
  sandboxId: BOX,
  host: 'a',
  homeBefore: null,
  seen,
  ...change,
});
const placed = (...placements: readonly HostPlacement[]): Doctored => seeing({ placements });
const act = (change: Partial<HostAct>): HostAct => ({
  at: NOW,
  sandboxId: BOX,
  command: 'stopSandbox',
  host: 'a',
  fence: 1,
  storeFence: 1,
  hasDisk: true,
  isCutOff: false,
  ...change,
});
const acted = (...acts: readonly HostAct[]): Doctored => seeing({ acts });
const holding = (all: readonly HostView[]): Doctored => ({
  after: running,
  facts: { hosts: hosts({ all: () => all }), slots: new Map([BOX, box2].map((id) => [id, SIMULATED_USER])) },
});
const lost = sandbox({ phase: 'missing', status: 'MISSING', detail: 'host_lost' });
const HEARS = { before: running, event: { type: 'hostLost' as const } };
const givenUp = (afterMs: number): Doctored =>
  seeing({ givenUp: [{ at: NOW + afterMs, host: 'a', heardUntil: NOW }] });
const told = { type: 'send' as const, to: { machine: 'conversation' as const, id: TALK } };
const inside = { [TALK]: { activity: 'resting' as const, sequence: 0, since: 0 } };

const [first] = run().items;
const item = (change: Partial<RunItem>): Doctored['after'] =>
  run({ items: [{ ...(first as RunItem), conversationId: TALK, ...change }] });
const ENDED = {
  outcome: 'failed',
  failureClass: 'infra',
  detail: 'the sandbox is MISSING: host_lost',
} as const;
const attempt = (change: Partial<RunItem>): Doctored => ({
  machine: 'run',
  before: item({ phase: 'working' }),
  after: item({ phase: 'waiting', ending: ENDED, ...change }),
  facts: { hosts: hosts() },
});
const tried = attempt({ failures: { infra: 1 } });
const again = Array.from({ length: HOST_LOSSES_MAX }, () => attempt({}));

const SAFETY: readonly Omit<Case, 'machine'>[] = [
  {
    name: 'H1',
    holds: [
      acted(act({})),
      acted(act({}), act({ isCutOff: true, storeFence: 2 }), act({ fence: 2, storeFence: 2 })),
    ],
    broken: [acted(act({ storeFence: 2 }))],
  },
  { name: 'H1', holds: [], broken: [acted(act({ fence: 3, storeFence: 3 }), act({ isCutOff: true }))] },
  {
    name: 'H2',
    holds: [acted(act({})), acted(act({}), act({ host: null, command: 'reserveSlot' }))],
    broken: [acted(act({ host: 'b' }))],
  },
  { name: 'H2', holds: [], broken: [acted(act({ host: null, command: 'archiveWorkspace' }))] },
  { name: 'H2', holds: [], broken: [acted(act({ hasDisk: false }))] },
  {
    name: 'H3',
    holds: [
      placed(placement([A, B])),
      seeing({
        placements: [placement([A]), placement([view('a', { draining: true })], { homeBefore: 'a' })],
      }),
    ],
    broken: [placed(placement([view('a', { draining: true })]))],
  },
  { name: 'H3', holds: [], broken: [placed(placement([view('a', { up: 2 })]))] },
  { name: 'H3', holds: [], broken: [placed(placement([view('a', { leaseUntil: NOW })]))] },
  { name: 'H3', holds: [], broken: [placed(placement([B]))] },
  {
    name: 'H3',
    holds: [],
    broken: [seeing({ placements: [placement([A])] }, { pin: { labels: { zone: 'b' } } })],
  },
  { name: 'H3', holds: [], broken: [seeing({ placements: [placement([A])] }, { pin: { name: 'b' } })] },
  {
    name: 'H4',
    holds: [holding([view('a', { up: 2 })])],
    broken: [holding([view('a', { capacity: 1, up: 2 })])],
  },
  {
    name: 'H5',
    holds: [placed(placement([A]), placement([A, B], { sandboxId: box2, host: 'b' }))],
    broken: [placed(placement([A]), placement([B], { host: 'b', homeBefore: 'a' }))],
  },
  {
    name: 'H6',
    holds: [
      placed(placement([A, view('b', { up: 1 })])),
      placed(placement([A]), placement([view('a', { up: 1 }), B], { homeBefore: 'a' })),
    ],
    broken: [placed(placement([view('a', { up: 1 }), B]))],
  },
  {
    name: 'H6',
    holds: [seeing({ placements: [placement([view('a', { up: 1 }), B])] }, { strategy: 'pack' })],
    broken: [seeing({ placements: [placement([A, view('b', { up: 1 })])] }, { strategy: 'pack' })],
  },
  { name: 'H7', holds: [holding([view('a', { up: 2 })])], broken: [holding([view('a', { up: 1 })])] },
  {
    name: 'H8',
    holds: [givenUp(LEASE_MS), { ...givenUp(LEASE_MS), ...HEARS }],
    broken: [givenUp(LEASE_MS / 2)],
  },
  { name: 'H8', holds: [], broken: [{ ...HEARS, after: lost, facts: { hosts: hosts() } }] },
  {
    name: 'H9',
    holds: [{ ...HEARS, after: lost }],
    broken: [{ ...HEARS, after: running }],
  },
  { name: 'H9', holds: [], broken: [{ ...HEARS, after: { ...lost, detail: 'runtime_gone' } }] },
  {
    name: 'H9',
    holds: [
      {
        ...HEARS,
        after: { ...lost, attached: inside },
        orders: [{ ...told, event: { type: 'sandboxNoticed' } as never }],
      },
    ],
    broken: [{ ...HEARS, after: { ...lost, attached: inside } }],
  },
  { name: 'H10', holds: [...again, tried], broken: [tried] },
  { name: 'H10', holds: [], broken: [attempt({ phase: 'ended' })] },
  {
    name: 'H11',
    holds: [
      seeing({
        refusals: [placement([view('a', { up: 2 }), view('b', { draining: true })])],
      }),
    ],
    broken: [seeing({ refusals: [placement([view('a', { up: 2 }), B])] })],
  },
  {
    name: 'H11',
    holds: [],
    broken: [
      seeing({
        refusals: [placement([view('a', { draining: true })], { homeBefore: 'a' })],
      }),
    ],
  },
];

const atRest = (state: Parameters<typeof rest>[0], change: Partial<HostFacts> = {}) =>
  rest(state, { facts: facts({ hosts: hosts(change) }) });
const over = { all: () => [view('a', { leaseUntil: NOW - 10 * MINUTE_MS })] };
const informed = { ...running, status: 'MISSING' as const, phase: 'missing' as const };
const readOnly = conversation({
  phase: 'active',
  sandboxId: BOX,
  sandbox: { ...(talking.sandbox as NonNullable<typeof talking.sandbox>), status: 'MISSING', usable: false },
  agentActivity: 'resting',
  queue: [],
});
const AT_REST = [
  { name: 'L12', holds: atRest({ sandbox: informed }, over), broken: atRest({ sandbox: running }, over) },
  { name: 'L12', holds: atRest({ sandbox: running }), broken: atRest({ sandbox: running }, over) },
  {
    name: 'L13',
    holds: atRest({ sandbox: lost, conversation: readOnly }),
    broken: atRest({ sandbox: lost, conversation: talking }),
  },
  {
    name: 'L13',
    holds: atRest({ sandbox: lost, conversation: { ...talking, sandboxId: box2 } }),
    broken: atRest({ sandbox: lost, conversation: { ...readOnly, agentActivity: 'working' } }),
  },
  {
    name: 'L13',
    holds: atRest({ sandbox: running, conversation: talking }),
    broken: atRest({ sandbox: lost, conversation: { ...readOnly, queue: talking.queue } }),
  },
] as const;

describe('checkers of hosts', () => {
  it.each(SAFETY)('$name fails when it should', ({ name, holds, broken }) => {
    const answer = (steps: readonly Doctored[]): readonly (string | null | undefined)[] => {
      const checker = ofHosts().find((one) => one.name === name);
      return steps.map((step) => checker?.check(moment('sandbox', step)));
    };
    // Each is a world of its own, but for those that remember what came before.
    if (name === 'H10') expect(answer(holds).every((problem) => problem === null)).toBe(true);
    else for (const one of holds) expect(answer([one])).toEqual([null]);
    const answers = [...answer(broken)];
    expect(answers.pop()).toEqual(expect.any(String));
  });

  it.each(AT_REST)('$name fails when it should', ({ name, holds, broken }) => {
    const check = HOSTS_AT_REST.find((one) => one.name === name)?.check;
    expect(check?.(holds)).toEqual([]);
    expect(check?.(broken)).toHaveLength(1);
  });

  it('are all shown a broken world', () => {
    const named = [...ofHosts(), ...HOSTS_AT_REST].map(({ name }) => name);
    expect([...new Set([...SAFETY, ...AT_REST].map(({ name }) => name))]).toEqual(named);
  });

  it('say nothing where sandboxes are bound to no host', () => {
    for (const { check } of ofHosts()) expect(check(moment('sandbox', { after: running }))).toBeNull();
    for (const { check } of HOSTS_AT_REST) expect(check(rest({ sandbox: running }))).toEqual([]);
  });
});
