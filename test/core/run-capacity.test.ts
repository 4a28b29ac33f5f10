/** A run and the slots of its deployment (D29): who is admitted, who waits, and what is given back for them. */
import { describe, expect, it } from 'vitest';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { runMachine } from '../../core/run/machine.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { RunLife } from './run-life.ts';

const WAIT = 'capacity (2 of 2 in use: 2 of this run, 0 others)';
const CAPACITY = { slotsMax: 2, perSandboxMax: 2 };
const box = (number: number): SandboxId => sandboxId(`b${number}`.padStart(32, '0'));
const many = (count: number) => Array.from({ length: count }, () => ({}));
const inFlight = (life: RunLife) => life.its.items.filter(({ phase }) => phase === 'starting').length;
const shared = (cleanup: 'delete' | 'pause' | 'keep' = 'delete') =>
  new RunLife(
    {
      concurrency: 10,
      capacity: CAPACITY,
      sharesSandboxes: true,
      cleanup: { sandbox: cleanup, conversation: 'keep', onCollectFailure: 'keep' },
    },
    many(5),
  );
const waits = (life: RunLife, index: number) =>
  life
    .started(index)
    .notice(
      { startTask: 'WORKING', sandboxId: null, sandboxStatus: null, executionStatus: null, waitsFor: WAIT },
      index,
    );
const ends = (life: RunLife, index: number, sandbox: SandboxId) =>
  life
    .started(index)
    .notice({ sandboxId: sandbox }, index)
    .notice({ sandboxId: sandbox, executionStatus: 'FINISHED', settled: true }, index)
    .collected(5, index);
const cleanUps = (life: RunLife) => life.orders.filter((order) => order.type === 'cleanUpSandbox');
const offered = (life: RunLife) =>
  life.orders.filter((order) => order.type === 'send' && order.event.type === 'roomOffered').length;

describe('admission', () => {
  it('begins no more than could have a place, and says so', () => {
    const alone = new RunLife({ concurrency: 10, capacity: CAPACITY }, many(5));
    expect(inFlight(alone)).toBe(2);
    expect(alone.its.pace?.heldBy).toBe('capacity');
    expect(inFlight(shared())).toBe(4);
  });
});

describe('an item that waits for a slot', () => {
  it('shows who has them, has no deadline, and counts from when it has its place', () => {
    const wait = {
      until: ['FINISHED'],
      deadlineMs: 1_000,
      noProgressMs: null,
      onSessionLimit: 'resume',
    } as const;
    const life = waits(new RunLife({ wait }), 0);
    const row = life.orders
      .flatMap((order) => (order.type === 'project' ? order.rows : []))
      .findLast((one): one is RunItemRow => one.table === 'run_item');
    expect(row).toMatchObject({ phase: 'starting', attempt: 1, waitsFor: WAIT });
    expect(runMachine.deadline(life.its)).toBeNull();
    life.notice({ sandboxStatus: 'STARTING', startTask: 'WORKING' });
    expect(life.item()).toMatchObject({ attempt: 1, failures: {}, admittedAt: life.now });
    expect(runMachine.deadline(life.its)).toBe(life.now + 1_000);
  });

  it('is told of a sandbox that comes up, which it may be placed in', () => {
    const life = waits(shared(), 1);
    life.started(0).notice({ sandboxId: box(1), sandboxStatus: 'STARTING', startTask: 'WORKING' }, 0);
    expect(offered(life)).toBe(0);
    life.notice({ sandboxId: box(1) }, 0);
    expect(offered(life)).toBe(1);
  });

  it('is told at once when one was up already', () => {
    const life = shared();
    life.started(0).notice({ sandboxId: box(1) }, 0);
    expect(offered(waits(life, 1))).toBe(1);
  });
});

describe('sandboxes that are shared', () => {
  it('stay while nobody waits, and go one for one when somebody does, the fullest first', () => {
    const life = shared();
    ends(life, 0, box(1));
    ends(life, 1, box(2));
    ends(life, 2, box(2));
    expect(cleanUps(life)).toEqual([]);
    waits(life, 3);
    expect(cleanUps(life)).toMatchObject([{ sandboxId: box(2), how: 'delete', whileRunning: true }]);
    waits(life, 4);
    expect(cleanUps(life)).toMatchObject([{ sandboxId: box(1) }]);
  });

  it('stay when somebody has come meanwhile, until something is heard of them again', () => {
    const life = shared();
    ends(life, 0, box(1));
    waits(life, 1);
    const [first] = cleanUps(life);
    const busy = { isOurs: false, isBusy: true } as const;
    life.send({ type: 'sandboxCleanedUp', commandId: first?.id ?? '', sandboxId: box(1), ...busy });
    expect(cleanUps(life)).toEqual([]);
    ends(life, 2, box(1));
    expect(cleanUps(life)).toMatchObject([{ sandboxId: box(1) }]);
  });

  it('keep their files and give the slot back where the job keeps them', () => {
    const life = shared('keep');
    ends(life, 0, box(1));
    waits(life, 1);
    expect(cleanUps(life)).toMatchObject([{ sandboxId: box(1), how: 'pause', whileRunning: true }]);
    waits(life, 2);
    expect(cleanUps(life)).toEqual([]);
  });
});
