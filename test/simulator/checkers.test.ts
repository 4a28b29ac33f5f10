/** Every checker can fail: each is shown a doctored world in which its invariant is broken, and one in which it holds. */
import { describe, expect, it } from 'vitest';
import { sessionEndOf } from '../../core/session.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { Rest } from '../../simulator/checkers/checker.ts';
import { LIVENESS, safetyCheckers } from '../../simulator/checkers/list.ts';
import { sandboxIdNamed } from '../../simulator/models/derived-id.ts';
import { SIMULATED_USER } from '../../simulator/models/run-model.ts';
import type { EntityAddress } from '../../core/ids.ts';
import { POLICY } from '../conformance/script-parts.ts';
import {
  BOX,
  conversation,
  facts,
  moment,
  NOW,
  rest,
  run,
  sandbox,
  TALK,
  usable,
  type Doctored,
} from './doctored.ts';

interface Case {
  readonly name: string;
  readonly machine?: EntityAddress['machine'];
  readonly holds: readonly Doctored[];
  /** Steps in order; the last one breaks it. */
  readonly broken: readonly Doctored[];
}

const running = sandbox({ phase: 'running', status: 'RUNNING', sessionStartedAt: NOW, everReady: true });
const attached = { [TALK]: { activity: 'resting' as const, sequence: 0 } };
const box2 = sandboxIdNamed('another');
const full = { ...POLICY, capacity: { ...POLICY.capacity, installationMax: 1 } };
const crowded = { ...POLICY, capacity: { ...POLICY.capacity, userMax: 1 } };
const two = new Map([BOX, box2].map((id) => [id, SIMULATED_USER]));
const up = (...generations: readonly number[]) => ({ live: new Map([[BOX, new Set(generations)]]) });
const pausedAsIdle = {
  before: running,
  after: { ...running, phase: 'pausing', releaseReason: 'idle' },
  event: { type: 'idleReached' as const },
};
const released = sandbox({ phase: 'released', releasedAt: NOW });
const talking = conversation({
  phase: 'active',
  sandboxId: BOX,
  sandbox: usable(2),
  queue: [{ kind: 'message', itemId: 'm', text: 't', run: true }],
});
const [first] = run().items;

const SAFETY: readonly Case[] = [
  { name: 'I1', holds: [{ after: running, facts: up(1) }], broken: [{ after: running, facts: up(1, 2) }] },
  {
    name: 'I2',
    holds: [{ after: running, facts: { slots: two } }],
    broken: [{ after: running, facts: { slots: two, policy: full } }],
  },
  { name: 'I2', holds: [], broken: [{ after: running, facts: { slots: two, policy: crowded } }] },
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
    holds: [{ ...pausedAsIdle, at: NOW + 20 * MINUTE_MS }],
    broken: [{ ...pausedAsIdle, at: NOW + 20 * MINUTE_MS - 1 }],
  },
  {
    name: 'I10',
    holds: [{ before: running, after: running, at: sessionEndOf(NOW) - 1 }],
    broken: [{ before: running, after: running, at: sessionEndOf(NOW) }],
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
    name: 'I12',
    holds: [{ after: sandbox({ attached }) }],
    broken: [{ after: sandbox({ attached }) }, { after: sandbox({ attached, sandboxId: box2 }) }],
  },
  {
    name: 'I12',
    machine: 'conversation',
    holds: [{ after: talking }],
    broken: [{ after: conversation({ sandboxId: BOX, birth: { ...talking.birth, sandboxId: box2 } }) }],
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
    holds: [],
    broken: [
      {
        after: run({ spentNanoUsd: 5, items: first === undefined ? [] : [{ ...first, costNanoUsd: 5 }] }),
        facts: { toldNanoUsd: 4 },
      },
    ],
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
    const names = safetyCheckers().map(({ name }) => name);
    expect([...new Set(SAFETY.map(({ name }) => name))].sort()).toEqual([...names].sort());
  });
});

const accepted = new Map([['m', TALK]]);
const AT_REST: readonly { readonly name: string; readonly holds: Rest; readonly broken: Rest }[] = [
  {
    name: 'L1',
    holds: rest({ sandbox: sandbox({ phaseDeadline: NOW }) }),
    broken: rest({ sandbox: sandbox({ phaseDeadline: null }) }),
  },
  {
    name: 'L1',
    holds: rest({ sandbox: running }),
    broken: rest({ sandbox: sandbox({ phase: 'resuming', phaseDeadline: NOW - 1 }) }),
  },
  {
    name: 'L2',
    holds: rest({ sandbox: running }, { now: NOW + 20 * MINUTE_MS }),
    broken: rest({ sandbox: running }, { now: NOW + 20 * MINUTE_MS + 1 }),
  },
  {
    name: 'L3',
    holds: rest({ sandbox: released }, { now: NOW + DAY_MS }),
    broken: rest({ sandbox: released }, { now: NOW + 10 * DAY_MS + 1 }),
  },
  {
    name: 'L4',
    holds: rest({ sandbox: running }, { facts: facts(up(1)) }),
    broken: rest({ sandbox: released }, { facts: facts(up(1)) }),
  },
  {
    name: 'L4',
    holds: rest({ sandbox: running }, { facts: facts({ slots: new Map([[BOX, SIMULATED_USER]]) }) }),
    broken: rest({ sandbox: released }, { facts: facts({ slots: two }) }),
  },
  {
    name: 'L5',
    holds: rest(
      { conversation: conversation() },
      { facts: facts({ accepted, delivered: new Map([['m', 1]]) }) },
    ),
    broken: rest({ conversation: conversation({ queue: [] }) }, { facts: facts({ accepted }) }),
  },
  {
    name: 'L6',
    holds: rest({ conversation: conversation({ startDeadline: NOW + HOUR_MS }) }),
    broken: rest({ conversation: conversation({ startDeadline: null }) }),
  },
  {
    name: 'L6',
    holds: rest({ conversation: conversation({ startTask: 'READY' }) }),
    broken: rest({ conversation: conversation({ startTask: 'ERROR' }) }),
  },
  {
    name: 'L7',
    holds: rest({ sandbox: running }, { facts: facts(up(1)) }),
    broken: rest({ sandbox: running }),
  },
  {
    name: 'L7',
    holds: rest({ sandbox: sandbox({ phase: 'missing' }) }),
    broken: rest({ sandbox: sandbox({ phase: 'missing' }) }, { facts: facts(up(1)) }),
  },
];

describe('liveness checkers', () => {
  it.each(AT_REST)('$name fails when it should', ({ name, holds, broken }) => {
    const checker = LIVENESS.find((one) => one.name === name);
    expect(checker?.check(holds)).toEqual([]);
    expect(checker?.check(broken)[0]?.problem).toEqual(expect.any(String));
  });

  it('are all shown a broken world', () => {
    expect([...new Set(AT_REST.map(({ name }) => name))]).toEqual(LIVENESS.map(({ name }) => name));
  });
});
