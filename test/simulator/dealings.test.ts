/** Every checker of how machines deal with one another can fail: each is shown a world in which its invariant is broken. */
import { describe, expect, it } from 'vitest';
import type { SandboxId } from '../../core/ids.ts';
import { initSandbox } from '../../core/sandbox/state.ts';
import type { RunItem, RunState } from '../../core/run/state.ts';
import { HOUR_MS } from '../../core/time.ts';
import type { Rest } from '../../simulator/checkers/checker.ts';
import { dealings, DEALINGS_AT_REST } from '../../simulator/checkers/list-of-dealings.ts';
import {
  BOX,
  NOW,
  SHARDED,
  TALK,
  conversation,
  moment,
  released,
  rest,
  run,
  running,
  sandbox,
  talking,
  type Case,
  type Doctored,
  usable,
} from './doctored.ts';
import { OF_THE_LINE } from './broken-line.ts';
import { OF_POOLS } from './broken-pools.ts';
import { OF_RUNS } from './broken-runs.ts';

const pausing = { ...running, phase: 'pausing' as const };
const working = { [TALK]: { activity: 'working' as const, sequence: 3 } };
const older = { [TALK]: { activity: 'resting' as const, sequence: 2 } };
const answered = (requestId: string): Doctored['orders'] => [
  { type: 'send', event: { type: 'resumeAnswered', requestId } } as never,
];
const resumes = (generation: number) => ({ type: 'resumeSandbox', generation }) as never;
const stopped = { type: 'sandboxStopped', commandId: 'c' } as const;
const resume = { type: 'resumeRequested', requestId: 'r', conversationId: null } as const;
const pause = { type: 'pauseRequested', requestId: 'p', reason: 'user' } as const;

const SANDBOX: readonly Case[] = [
  {
    name: 'I17',
    machine: 'sandbox',
    holds: [{ before: { ...pausing, awaiting: 'c' }, after: released, event: stopped }],
    broken: [{ before: { ...pausing, awaiting: 'd' }, after: released, event: stopped }],
  },
  {
    name: 'I18',
    machine: 'sandbox',
    holds: [{ before: released, after: released, event: resume }],
    broken: [resume, pause, resume].map((event) => ({ before: released, after: released, event })),
  },
  {
    name: 'I19',
    machine: 'sandbox',
    holds: [{ before: { ...running, attached: older }, after: { ...running, attached: working } }],
    broken: [{ before: { ...running, attached: working }, after: { ...running, attached: older } }],
  },
  {
    name: 'I20',
    machine: 'sandbox',
    holds: [],
    broken: Array.from({ length: 4 }, () => ({
      after: sandbox({ phase: 'resuming' }),
      orders: [{ type: 'resumeSandbox' as const }],
    })),
  },
  {
    name: 'I21',
    machine: 'sandbox',
    holds: [{ before: sandbox(), after: running, event: { type: 'sandboxReady' } }],
    broken: [
      { before: sandbox(), after: sandbox({ wanted: 'pause' }), event: pause },
      { before: sandbox({ wanted: 'pause' }), after: running, event: { type: 'sandboxReady' } },
    ],
  },
  {
    name: 'I21',
    machine: 'sandbox',
    holds: [],
    broken: [
      { before: pausing, after: { ...pausing, wanted: 'resume' }, event: resume },
      { before: { ...pausing, wanted: 'resume' }, after: released, event: stopped },
    ],
  },
  {
    name: 'I22',
    machine: 'sandbox',
    holds: [{ after: running, orders: answered('a') ?? [] }],
    broken: [
      { after: running, orders: answered('a') ?? [] },
      { after: running, orders: answered('a') ?? [] },
    ],
  },
  {
    name: 'I22',
    machine: 'sandbox',
    holds: [{ after: { ...pausing, waiters: [{ requestId: 'a', conversationId: TALK }] } }],
    broken: [{ after: { ...released, waiters: [{ requestId: 'a', conversationId: TALK }] } }],
  },
  {
    name: 'I23',
    machine: 'sandbox',
    holds: [{ before: sandbox(), after: running }],
    broken: [
      { before: sandbox(), after: running },
      { before: running, after: pausing },
      { before: sandbox({ phase: 'resuming' }), after: running },
    ],
  },
  {
    name: 'I23',
    machine: 'sandbox',
    holds: [{ after: { ...running, attached: working } }],
    broken: [{ after: { ...running, status: 'PAUSED', attached: working } }],
  },
  {
    name: 'I23',
    machine: 'sandbox',
    holds: [{ after: sandbox({ phase: 'resuming' }), orders: [resumes(2)] }],
    broken: [2, 2].map((generation) => ({
      after: sandbox({ phase: 'resuming' }),
      orders: [resumes(generation)],
    })),
  },
  {
    name: 'I24',
    machine: 'sandbox',
    holds: [{ before: released, after: sandbox({ phase: 'archiving', deletedByUser: true }) }],
    broken: [{ before: released, after: { ...released, deletedByUser: true } }],
  },
  {
    name: 'I24',
    machine: 'sandbox',
    holds: [{ before: released, after: released }],
    broken: [{ before: released, after: { ...released, releasedAt: NOW + 1 } }],
  },
  {
    name: 'I24',
    machine: 'sandbox',
    holds: [],
    broken: [
      {
        after: sandbox({ phase: 'destroying', archive: 'archive_failed' }),
        orders: [{ type: 'destroySandbox' }],
      },
    ],
  },
];

const late = { type: 'idleReached', commandId: 'c', lastActivityAt: 0, lookedAt: NOW - 1 } as const;
const full = { type: 'pauseRequested', requestId: 'p', reason: 'capacity' } as const;
const busy = { ...running, attached: working };

const AGAINST_EACH_OTHER: readonly Case[] = [
  {
    name: 'I26',
    machine: 'sandbox',
    holds: [
      { after: busy, at: NOW - 2 },
      { before: busy, after: { ...busy, phase: 'pausing' }, event: late },
    ],
    broken: [
      { before: running, after: busy },
      { before: busy, after: { ...busy, phase: 'pausing' }, event: late },
    ],
  },
  {
    name: 'I26',
    machine: 'sandbox',
    holds: [{ before: running, after: pausing, event: full }],
    broken: [
      { before: running, after: busy },
      { before: busy, after: { ...busy, phase: 'pausing' }, event: full },
    ],
  },
  {
    name: 'I27',
    machine: 'sandbox',
    holds: [{ after: pausing }, { after: sandbox({ phaseDeadline: NOW }) }, { after: pausing }],
    broken: [{ after: sandbox({ phaseDeadline: NOW }) }, { after: pausing, at: NOW + 1 }],
  },
  {
    name: 'I27',
    machine: 'sandbox',
    holds: [
      { after: sandbox({ phaseDeadline: NOW }) },
      { after: pausing, at: NOW + 1, timeliness: { clockOffMs: 1 } },
    ],
    broken: [
      { after: sandbox({ phaseDeadline: NOW - HOUR_MS }) },
      { after: sandbox({ phaseDeadline: NOW - HOUR_MS }) },
      { after: pausing, at: NOW + 1 },
    ],
  },
  ...OF_THE_LINE,
];

const armed = { ...talking, openGeneration: 2 };
const deliver = [{ type: 'deliverItem', generation: 2 }] as never;
const limited = { ...talking, agentActivity: 'rate_limit', recheckAt: NOW } as const;
const goesOn = [{ kind: 'continue', itemId: 'i' }] as const;
const [first] = run().items;
const item = (change: Partial<RunItem>): RunState => run({ items: [{ ...(first as RunItem), ...change }] });
const started = { type: 'conversationStarted', commandId: 'c', index: 0, conversationId: TALK } as const;
const begins = [{ type: 'startConversation' }] as never;
const cleansUp = [{ type: 'cleanUpSandbox', sandboxId: BOX, how: 'delete' }] as never;
const WORK: readonly Case[] = [
  ...OF_RUNS,
  ...OF_POOLS,
  {
    name: 'I25',
    machine: 'conversation',
    holds: [{ after: armed, orders: deliver }],
    broken: [{ after: { ...armed, openGeneration: 1 }, orders: deliver }],
  },
  {
    name: 'I25',
    machine: 'conversation',
    holds: [],
    broken: [{ after: { ...armed, sandbox: { ...usable(2), transition: 'pausing' } }, orders: deliver }],
  },
  {
    name: 'I19',
    machine: 'conversation',
    holds: [{ before: talking, after: { ...talking, sandbox: usable(3) } }],
    broken: [{ before: talking, after: { ...talking, sandbox: usable(1) } }],
  },
  {
    name: 'I20',
    machine: 'conversation',
    holds: [],
    broken: Array.from({ length: 6 }, () => ({
      after: talking,
      event: { type: 'deliveryFailed' as const, itemId: 'm' },
    })),
  },
  {
    name: 'I17',
    machine: 'run',
    // A retry that is due begins with any event, and says nothing about the answer.
    holds: [
      { before: item({}), after: item({ phase: 'starting', attempt: 1, awaiting: 'x' }), event: started },
    ],
    broken: [{ before: item({}), after: item({ conversationId: TALK }), event: started }],
  },
  {
    name: 'I17',
    machine: 'run',
    holds: [],
    broken: [
      {
        before: item({}),
        after: item({ phase: 'starting', attempt: 1, conversationId: TALK }),
        event: started,
      },
    ],
  },
  {
    name: 'I29',
    machine: 'conversation',
    holds: [{ before: limited, after: { ...limited, recheckAt: null, queue: goesOn } }],
    broken: [{ before: limited, after: { ...limited, recheckAt: null, queue: [] } }],
  },
  {
    name: 'R1',
    machine: 'run',
    holds: [{ after: item({ phase: 'starting', attempt: 1 }), orders: begins }],
    broken: [
      {
        after: { ...item({ phase: 'starting', attempt: 1 }), rules: { ...run().rules, concurrency: 0 } },
        orders: begins,
      },
    ],
  },
  {
    name: 'R1',
    machine: 'run',
    holds: [],
    broken: [
      {
        before: item({ phase: 'waiting', notBefore: NOW + HOUR_MS }),
        after: item({ phase: 'starting', attempt: 1 }),
      },
    ],
  },
  {
    name: 'R2',
    machine: 'run',
    holds: [{ after: item({ phase: 'collecting' }) }],
    broken: [{ after: { ...item({ phase: 'collecting' }), phase: 'cleaning' } }],
  },
  {
    name: 'R2',
    machine: 'run',
    holds: [],
    broken: [{ after: { ...item({ phase: 'waiting' }), mode: 'cancelling' } }],
  },
  {
    name: 'R3',
    machine: 'run',
    holds: [{ after: item({ phase: 'ended', sandboxId: BOX }), orders: cleansUp }],
    broken: [{ after: item({ phase: 'collecting', sandboxId: BOX as SandboxId }), orders: cleansUp }],
  },
];

interface AtRest {
  readonly name: string;
  readonly holds: Rest;
  readonly broken: Rest;
}

const watch = { id: 'sandbox/x#1', type: 'watchIdle' } as never;
const interruptedTalk = conversation({ phase: 'active', sandbox: usable(1), executionStatus: 'RUNNING' });
const down = { ...usable(1), usable: false, status: 'PAUSED' } as const;
const lonely = initSandbox(
  { sandboxId: BOX, userId: running.userId, createdBy: 'api', limits: running.limits },
  NOW,
);

const guest = conversation({ sandboxId: BOX, phase: 'active' });
const ordered = { after: run(), orders: [{ type: 'cleanUpSandbox', id: 'run/r#1', runId: 'r' }] as never };
const takes = { type: 'deleteRequested', requestId: 'run/r#1' } as const;
const going = {
  before: { ...running, attached: older },
  after: sandbox({ phase: 'stopping' }),
  event: takes,
};

const AT_REST: readonly AtRest[] = [
  {
    name: 'L8',
    holds: rest({ sandbox: sandbox({ phaseDeadline: NOW + 1 }) }),
    broken: rest({ sandbox: sandbox({ phaseDeadline: NOW - 1 }) }),
  },
  {
    name: 'L9',
    holds: rest({ sandbox: { ...running, watch: 'sandbox/x#1' } }, { outstanding: [watch] }),
    broken: rest({ sandbox: running }, { outstanding: [watch] }),
  },
  {
    name: 'L9',
    holds: rest({
      conversation: { ...interruptedTalk, agentActivity: 'rate_limit', recheckAt: NOW + 1, queue: [] },
    }),
    broken: rest({ conversation: { ...interruptedTalk, agentActivity: 'rate_limit', queue: [] } }),
  },
  {
    name: 'L10',
    holds: rest({ conversation: { ...interruptedTalk, sandbox: down, interrupted: true } }),
    broken: rest({ conversation: { ...interruptedTalk, sandbox: down } }),
  },
  {
    name: 'L10',
    holds: rest({ sandbox: { ...lonely, phase: 'released' } }),
    broken: rest({ sandbox: released }),
  },
  { name: 'L11', ...SHARDED },
];

describe('checkers of dealings', () => {
  it.each([...SANDBOX, ...AGAINST_EACH_OTHER, ...WORK])('$name of a $machine fails when it should', (one) => {
    const find = () => dealings().find(({ name }) => name === one.name);
    const held = find();
    for (const holds of one.holds) expect(held?.check(moment(one.machine, holds))).toBeNull();
    const checker = find();
    const answers = one.broken.map((broken) => checker?.check(moment(one.machine, broken)));
    expect(answers.pop()).toEqual(expect.any(String));
    expect(answers.every((answer) => answer === null)).toBe(true);
  });

  it('I28 fails when a run takes what somebody else was in before', () => {
    const play = (owner: string | null, atOrder: number): string | null | undefined => {
      const check = dealings().find(({ name }) => name === 'I28')?.check;
      const spec = { ...guest.spec, runId: owner as never };
      check?.(moment('conversation', { after: { ...guest, spec } }));
      check?.(moment('sandbox', { after: { ...running, attached: older } }));
      check?.(moment('run', { ...ordered, at: atOrder }));
      return check?.(moment('sandbox', { ...going, at: atOrder }));
    };
    expect(play(null, NOW + 1)).toEqual(expect.any(String));
    expect(play('r', NOW + 1)).toBeNull();
    expect(play(null, NOW)).toBeNull();
  });

  it.each(AT_REST)('$name fails when it should', ({ name, holds, broken }) => {
    const checker = DEALINGS_AT_REST.find((one) => one.name === name);
    expect(checker?.check(holds)).toEqual([]);
    expect(checker?.check(broken)[0]?.problem).toEqual(expect.any(String));
  });

  it('are all shown a broken world', () => {
    const cases = [...SANDBOX, ...AGAINST_EACH_OTHER, ...WORK, ...AT_REST];
    const shown = ['I28', ...cases.map(({ name }) => name)];
    const named = [...dealings(), ...DEALINGS_AT_REST].map(({ name }) => name);
    expect([...new Set(shown)].sort()).toEqual([...named].sort());
  });
});
