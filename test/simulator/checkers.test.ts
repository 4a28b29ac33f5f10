/** Every checker of a step can fail: each is shown a doctored world in which its invariant is broken, and one in which it holds. */
import { describe, expect, it } from 'vitest';
import type { EntityAddress } from '../../core/ids.ts';
import { sessionEndOf } from '../../core/sandbox/session.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { ofHosts } from '../../simulator/checkers/hosts/list-of-hosts.ts';
import { dealings } from '../../simulator/checkers/list-of-dealings.ts';
import { safetyCheckers } from '../../simulator/checkers/list.ts';
import { POLICY } from '../conformance/script-parts.ts';
import {
  BOX,
  box2,
  conversation,
  moment,
  NOW,
  released,
  run,
  running,
  sandbox,
  TALK,
  talking,
  two,
  up,
  type Doctored,
} from './doctored.ts';

interface Case {
  readonly name: string;
  readonly machine?: EntityAddress['machine'];
  readonly holds: readonly Doctored[];
  /** Steps in order; the last one breaks it. */
  readonly broken: readonly Doctored[];
}

const attached = { [TALK]: { activity: 'resting' as const, sequence: 0, since: 0 } };
const full = { ...POLICY, capacity: { ...POLICY.capacity, installationMax: 1 } };
const crowded = { ...POLICY, capacity: { ...POLICY.capacity, userMax: 1 } };
const pausedAsIdle = {
  before: running,
  after: { ...running, phase: 'pausing', releaseReason: 'idle' },
  event: { type: 'idleReached' as const },
};
const [first] = run().items;
const collected = {
  before: run(),
  after: run({
    spentNanoUsd: 5,
    items: run().items.map((one) =>
      one.key === first?.key ? { ...one, conversationId: TALK, costNanoUsd: 5 } : one,
    ),
  }),
  event: { type: 'itemCollected' as const },
};
/** After the end of every window; the engine was down when it was over. */
const LATE = sessionEndOf(NOW) + MINUTE_MS;
const ABSENT = { upAfter: () => LATE };

const SAFETY: readonly Case[] = [
  { name: 'I1', holds: [{ after: running, facts: up(1) }], broken: [{ after: running, facts: up(1, 2) }] },
  {
    name: 'I2',
    holds: [{ after: running, facts: { slots: two } }],
    broken: [{ after: running, facts: { slots: two, policy: full } }],
  },
  { name: 'I2', holds: [], broken: [{ after: running, facts: { slots: two, policy: crowded } }] },
  {
    name: 'I2',
    holds: [{ after: running, facts: { ...up(1), slots: two } }],
    broken: [{ after: running, facts: up(1) }],
  },
  {
    name: 'I3',
    holds: [{ after: running, orders: [{ type: 'stopSandbox', generation: 1 }] }],
    broken: [{ after: sandbox({ generation: 2 }), orders: [{ type: 'stopSandbox', generation: 1 }] }],
  },
  {
    name: 'I4',
    holds: [
      { before: sandbox({ status: 'ERROR' }), after: sandbox({ status: 'MISSING', deletedByUser: true }) },
    ],
    broken: [{ before: sandbox({ status: 'MISSING' }), after: running }],
  },
  { name: 'I4', holds: [], broken: [{ before: sandbox({ status: 'ERROR' }), after: running }] },
  {
    name: 'I4',
    holds: [],
    broken: [{ before: sandbox({ status: 'ERROR' }), after: sandbox({ status: 'MISSING' }) }],
  },
  {
    name: 'I5',
    holds: [{ after: sandbox({ phase: 'missing' }) }],
    broken: [{ after: sandbox({ phase: 'missing' }), facts: up(1) }],
  },
  {
    name: 'I6',
    holds: [
      {
        after: sandbox({ everReady: true, archive: 'archive_failed' }),
        orders: [{ type: 'destroySandbox' }],
      },
    ],
    broken: [{ after: sandbox({ everReady: true }), orders: [{ type: 'destroySandbox' }] }],
  },
  {
    name: 'I6',
    holds: [],
    broken: [
      { after: sandbox({ everReady: true, archive: 'stored' }), orders: [{ type: 'destroySandbox' }] },
    ],
  },
  {
    name: 'I7',
    machine: 'conversation',
    holds: [{ after: talking, facts: { transcriptOf: () => 3 } }],
    broken: [3, 2].map((length) => ({ after: talking, facts: { transcriptOf: () => length } })),
  },
  {
    name: 'I8',
    machine: 'conversation',
    holds: [
      {
        before: talking,
        after: talking,
        event: { type: 'itemDelivered' },
        facts: { delivered: new Map([['m', 1]]) },
      },
    ],
    broken: [
      {
        before: talking,
        after: talking,
        event: { type: 'itemDelivered' },
        facts: { delivered: new Map([['m', 2]]) },
      },
    ],
  },
  {
    name: 'I8',
    machine: 'conversation',
    holds: [],
    broken: [
      {
        before: talking,
        after: talking,
        orders: [{ type: 'record' }],
        facts: { delivered: new Map([['m', 1]]), refused: new Map([['m', 1]]) },
      },
    ],
  },
  {
    name: 'I9',
    holds: [
      { ...pausedAsIdle, at: NOW + 20 * MINUTE_MS },
      { ...pausedAsIdle, at: NOW + 20 * MINUTE_MS - 1, timeliness: { clockOffMs: 1 } },
    ],
    broken: [{ ...pausedAsIdle, at: NOW + 20 * MINUTE_MS - 1 }],
  },
  {
    name: 'I10',
    holds: [
      { before: running, after: running, at: sessionEndOf(NOW) - 1 },
      { before: running, after: running, event: { type: 'agentNoticed' }, at: sessionEndOf(NOW) },
      { before: running, after: running, event: { type: 'agentNoticed' }, at: LATE, timeliness: ABSENT },
    ],
    broken: [{ before: running, after: running, at: sessionEndOf(NOW) }],
  },
  {
    name: 'I10',
    holds: [],
    broken: [{ before: running, after: running, event: { type: 'agentNoticed' }, at: LATE }],
  },
  {
    name: 'I10',
    holds: [],
    broken: [
      {
        before: running,
        after: { ...running, sessionStartedAt: NOW + 1 },
        event: { type: 'resumeRequested' },
      },
    ],
  },
  {
    name: 'I11',
    holds: [{ before: released, after: released, at: NOW + 10 * DAY_MS }],
    broken: [{ before: released, after: sandbox({ phase: 'archiving' }), at: NOW + 10 * DAY_MS - 1 }],
  },
  {
    name: 'I11',
    holds: [],
    broken: [
      {
        before: sandbox({ phase: 'pausing' }),
        after: released,
        event: { type: 'sandboxStopped' },
        at: NOW + 2,
      },
      { before: released, after: sandbox({ phase: 'archiving' }), at: NOW + 10 * DAY_MS + 1 },
    ],
  },
  {
    name: 'I12',
    holds: [{ after: sandbox({ attached }) }],
    broken: [{ after: sandbox({ attached }) }, { after: sandbox({ attached, sandboxId: box2 }) }],
  },
  {
    name: 'I12',
    machine: 'conversation',
    holds: [{ after: talking }],
    broken: [{ after: conversation({ sandboxId: BOX, spec: { ...talking.spec, sandboxId: box2 } }) }],
  },
  {
    name: 'I13',
    machine: 'conversation',
    holds: [{ after: talking, orders: [{ type: 'deliverItem', generation: 2 }] }],
    broken: [{ after: talking, orders: [{ type: 'deliverItem', generation: 1 }] }],
  },
  {
    name: 'I13',
    machine: 'conversation',
    holds: [],
    broken: [{ after: conversation(), orders: [{ type: 'openAgent', generation: 1 }] }],
  },
  {
    name: 'I14',
    holds: [{ before: running, after: { ...running, attached } }],
    broken: [{ before: sandbox({ phase: 'stopping' }), after: sandbox({ phase: 'stopping', attached }) }],
  },
  {
    name: 'I15',
    holds: [{ before: sandbox(), after: running, event: { type: 'sandboxReady' } }],
    broken: [{ before: sandbox(), after: released, event: { type: 'sandboxReady' } }],
  },
  {
    name: 'I15',
    holds: [],
    broken: [{ before: sandbox({ phase: 'missing' }), after: running, event: { type: 'sandboxReady' } }],
  },
  { name: 'I15', holds: [{ after: sandbox() }], broken: [{ after: running, event: { type: 'created' } }] },
  {
    name: 'I16',
    holds: [{ before: sandbox(), after: running, event: { type: 'sandboxReady' }, facts: up(1) }],
    broken: [{ before: sandbox(), after: running, event: { type: 'sandboxReady' } }],
  },
  {
    name: 'I16',
    holds: [],
    broken: [{ before: sandbox(), after: running, event: { type: 'resumeRequested' }, facts: up(1) }],
  },
  { name: 'M1', machine: 'run', holds: [{ after: run() }], broken: [{ after: run({ spentNanoUsd: 1 }) }] },
  {
    name: 'M1',
    machine: 'run',
    holds: [{ ...collected, facts: { toldNanoUsd: 5, spentBy: () => 5 } }],
    broken: [{ ...collected, facts: { toldNanoUsd: 4, spentBy: () => 5 } }],
  },
  {
    name: 'M1',
    machine: 'run',
    holds: [],
    broken: [{ ...collected, facts: { toldNanoUsd: 5, spentBy: () => 4 } }],
  },
  {
    name: 'M1',
    machine: 'run',
    holds: [],
    broken: [{ ...collected, event: { type: 'itemVerified' }, facts: { toldNanoUsd: 5, spentBy: () => 5 } }],
  },
  {
    name: 'B1',
    holds: [{ after: running, facts: up(1) }],
    broken: [
      { after: running, facts: up(1) },
      { after: { ...running, phase: 'pausing' }, facts: up(1), at: LATE },
      { after: released, facts: up(1), at: LATE },
    ],
  },
  {
    name: 'B1',
    holds: [],
    broken: [
      { after: running, facts: up(1) },
      { after: running, facts: up(1), at: LATE, timeliness: ABSENT },
      { after: running, facts: up(1), at: LATE },
    ],
  },
  {
    name: 'B2',
    holds: [
      { before: running, after: running, at: NOW + 20 * MINUTE_MS + 10 * SECOND_MS },
      { before: running, after: running, at: NOW + DAY_MS, facts: { lastActivityAt: (_, now) => now } },
      { before: running, after: running, at: NOW + DAY_MS, timeliness: { isDisturbed: true } },
      { before: { ...running, stale: true }, after: running, at: NOW + DAY_MS },
    ],
    broken: [{ before: running, after: running, at: NOW + 20 * MINUTE_MS + 10 * SECOND_MS + 1 }],
  },
];

describe('safety checkers', () => {
  it.each(SAFETY)('$name fails when it should', ({ name, machine = 'sandbox', holds, broken }) => {
    const find = () => safetyCheckers().find((one) => one.name === name);
    for (const one of holds) expect(find()?.check(moment(machine, one))).toBeNull();
    const checker = find();
    const answers = broken.map((one) => checker?.check(moment(machine, one)));
    expect(answers.pop()).toEqual(expect.any(String));
    expect(answers.every((answer) => answer === null)).toBe(true);
  });

  it('are all shown a broken world', () => {
    const elsewhere = new Set([...dealings(), ...ofHosts()].map(({ name }) => name));
    const names = safetyCheckers().flatMap(({ name }) => (elsewhere.has(name) ? [] : [name]));
    expect([...new Set(SAFETY.map(({ name }) => name))].sort()).toEqual([...names].sort());
  });
});
