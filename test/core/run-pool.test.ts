/** A run with a pool: how many items it holds, sandboxes made ahead, those that have had enough, and how all of them go. */
import { describe, expect, it } from 'vitest';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { poolDeadline } from '../../core/run/admission/pool.ts';
import type { RunRules } from '../../core/run/rules.ts';
import { conversationOf, POOL, RULES, RunLife, warming } from './run-life.ts';

const box = (number: number): SandboxId => sandboxId(`b${number}`.padStart(32, '0'));
const FIVE = Array.from({ length: 5 }, () => ({}));

const pooled = (pool: Partial<NonNullable<RunRules['pool']>> = {}, rules: Partial<RunRules> = {}): RunLife =>
  new RunLife(
    { ...rules, concurrency: 4, settleMs: null, sharesSandboxes: true, pool: { ...POOL, ...pool } },
    FIVE,
  );
const phases = (life: RunLife) => life.its.items.map(({ phase }) => phase);
const cleanUps = (life: RunLife) =>
  life.orders.flatMap((order) => (order.type === 'cleanUpSandbox' ? [order.sandboxId] : []));
const worksIn = (life: RunLife, index: number, sandbox: SandboxId) =>
  life.started(index).notice({ sandboxId: sandbox }, index);
const ends = (life: RunLife, index: number, sandbox: SandboxId) =>
  life.notice({ sandboxId: sandbox, executionStatus: 'FINISHED', settled: true }, index).collected(5, index);
const cleanedUp = (life: RunLife, sandbox: SandboxId, isOurs: boolean) => {
  const used = life.its.sandboxes.find(({ sandboxId: id }) => id === sandbox);
  return life.send({
    type: 'sandboxCleanedUp',
    commandId: used?.awaiting ?? 'none',
    sandboxId: sandbox,
    isOurs,
  });
};
const warmed = (life: RunLife, sandboxIds: readonly SandboxId[], reason: string | null = null) =>
  life.send({ type: 'poolWarmed', commandId: life.its.warming ?? 'none', sandboxIds, reason });
const lastRow = (life: RunLife, key: string): RunItemRow | undefined =>
  life.orders
    .flatMap((order) => (order.type === 'project' ? order.rows : []))
    .findLast((row): row is RunItemRow => row.table === 'run_item' && row.key === key);

describe('places of a pool', () => {
  it('hold items back, and say so', () => {
    const life = pooled();
    expect(phases(life)).toEqual(['starting', 'starting', 'waiting', 'waiting', 'waiting']);
    expect(life.its.pace?.heldBy).toBe('pool');
  });

  it.each(['spill', 'fail'] as const)('hold nobody back where a full pool means %s', (onFull) => {
    const life = pooled({ onFull });
    expect(phases(life).filter((phase) => phase === 'starting')).toHaveLength(4);
    expect(life.its.pace?.heldBy).toBe('concurrency');
  });

  it('are given back with the row that says that an attempt is over', () => {
    const retry = [{ on: ['agent_error'], attempts: 1, initialMs: 0, factor: 1, maxMs: 0 }] as const;
    const life = pooled({}, { retry });
    worksIn(life, 0, box(1));
    expect(lastRow(life, 'k0')).toMatchObject({ left: [] });
    life.notice({ sandboxId: box(1), executionStatus: 'ERROR', settled: true }, 0).collected(5, 0);
    expect(lastRow(life, 'k0')).toMatchObject({ phase: 'starting', left: [conversationOf(0, 1)] });
    worksIn(life, 0, box(1));
    ends(life, 0, box(1));
    expect(lastRow(life, 'k0')).toMatchObject({
      phase: 'ended',
      left: [conversationOf(0, 1), conversationOf(0, 2)],
    });
  });

  it('are not told of where there is no pool', () => {
    expect(lastRow(new RunLife(), 'k0')).not.toHaveProperty('left');
  });
});

describe('a pool that is warmed', () => {
  it('is ordered once, and the first items begin when that is answered', () => {
    const life = warming();
    expect(life.orders.filter(({ type }) => type === 'warmPool')).toMatchObject([{ size: 2, runId: 'r' }]);
    expect(phases(life)).toEqual(['waiting']);
    expect(life.its.pace?.heldBy).toBe('pool');
    warmed(life, [box(1)], 'there is no room for more');
    expect(phases(life)).toEqual(['starting']);
    expect(life.orders.find(({ type }) => type === 'record')).toMatchObject({
      event: { code: 'pool_warmed', detail: '1 of 2 sandboxes: there is no room for more' },
    });
    expect(warmed(life, [box(2)]).its.sandboxes).toHaveLength(1);
  });

  it('goes at the end, also what nobody ever used, and is not waited for then', () => {
    const life = warming();
    warmed(life, [box(1), box(2)]);
    worksIn(life, 0, box(1));
    expect(cleanUps(life)).toEqual([box(2)]);
    cleanedUp(life, box(2), true);
    ends(life, 0, box(1));
    expect(cleanUps(life)).toEqual([box(1)]);
    cleanedUp(life, box(1), true);
    expect(life.its.phase).toBe('cleaning');
    life.notice({ sandboxId: box(1), sandboxStatus: 'MISSING', settled: true, executionStatus: 'FINISHED' });
    expect(life.its.phase).toBe('settling');
  });

  it('is known and let go by a run that was cancelled meanwhile', () => {
    const life = warming().ask('cancelRequested');
    expect(life.its.phase).toBe('cleaning');
    warmed(life, [box(1)]);
    expect(cleanUps(life)).toEqual([box(1)]);
    cleanedUp(life, box(1), true);
    expect(life.its.phase).toBe('settling');
  });

  it('is kept where the job keeps its sandboxes', () => {
    const life = warming({ cleanup: { ...RULES.cleanup, sandbox: 'keep' } });
    warmed(life, [box(1)]);
    ends(worksIn(life, 0, box(1)), 0, box(1));
    expect(cleanUps(life)).toEqual([]);
    expect(life.its.phase).toBe('settling');
  });
});

describe('a sandbox that has had enough', () => {
  it('goes as soon as nobody of the run is in it, while the others go on', () => {
    const life = pooled({ recycleAfter: 1 });
    worksIn(life, 0, box(1));
    worksIn(life, 1, box(2));
    expect(cleanUps(life)).toEqual([]);
    ends(life, 0, box(1));
    expect(cleanUps(life)).toEqual([box(1)]);
    expect(life.its.phase).toBe('running');
  });

  it('takes its free places out of the count while it is still used', () => {
    const life = pooled({ recycleAfter: 2, maxPerSandbox: 2, size: 1 }, {});
    worksIn(life, 0, box(1));
    worksIn(life, 1, box(1));
    ends(life, 0, box(1));
    expect(phases(life)).toEqual(['ended', 'working', 'waiting', 'waiting', 'waiting']);
    expect(life.its.pace?.heldBy).toBe('pool');
    ends(life, 1, box(1));
    expect(cleanUps(life)).toEqual([box(1)]);
    expect(phases(life)).toEqual(['ended', 'ended', 'starting', 'starting', 'waiting']);
  });

  it('is looked at again when it was still in use, once the one who came is known', () => {
    const life = pooled({ recycleAfter: 1 });
    worksIn(life, 0, box(1));
    ends(life, 0, box(1));
    expect(cleanUps(life)).toEqual([box(1)]);
    cleanedUp(life, box(1), false);
    expect(cleanUps(life)).toEqual([]);
    worksIn(life, 1, box(1));
    expect(cleanUps(life)).toEqual([]);
    ends(life, 1, box(1));
    expect(cleanUps(life)).toEqual([box(1)]);
  });

  it('goes by its age', () => {
    const life = pooled({ recycleAgeMs: 60_000 });
    worksIn(life, 0, box(1));
    life.now += 60_000;
    ends(life, 0, box(1));
    expect(cleanUps(life)).toEqual([box(1)]);
  });

  it('stays when what is in it could not be collected', () => {
    const life = pooled({ recycleAfter: 1 });
    worksIn(life, 0, box(1));
    life.notice({ sandboxId: box(1), executionStatus: 'FINISHED', settled: true }, 0);
    life.answer('collectFailed', { reason: 'r' }, 0);
    expect(cleanUps(life)).toEqual([]);
  });
});

describe('a sandbox outside the pool that a full pool spilled over to', () => {
  const spilled = (life: RunLife, index: number, sandbox: SandboxId) =>
    life.started(index).notice({ sandboxId: sandbox, spilled: true }, index);

  it('is not recycled, and goes with the end of the run', () => {
    const life = pooled({ onFull: 'spill', size: 1, recycleAfter: 1 });
    worksIn(life, 0, box(1));
    spilled(life, 1, box(2));
    expect(life.its.sandboxes.map(({ pooled: use }) => use?.placed)).toEqual([1, undefined]);
    ends(life, 1, box(2));
    expect(cleanUps(life)).toEqual([]);
    ends(life, 0, box(1));
    expect(cleanUps(life)).toEqual([box(1)]);
    for (const index of [2, 3, 4]) ends(spilled(life, index, box(2)), index, box(2));
    expect(cleanUps(life)).toEqual([box(2)]);
  });

  it('wakes nobody when it has the age of recycling', () => {
    const life = pooled({ onFull: 'spill', size: 1, recycleAgeMs: 60_000 });
    ends(spilled(life, 0, box(2)), 0, box(2));
    expect(poolDeadline(life.its)).toBeNull();
    life.now += 60_000;
    life.send({ type: 'deadline' });
    expect(cleanUps(life)).toEqual([]);
  });
});

describe('a run that is taken up again', () => {
  const warmings = (life: RunLife) => life.orders.filter(({ type }) => type === 'warmPool');
  const failsIn = (life: RunLife, index: number, sandbox: SandboxId) =>
    life.notice({ sandboxId: sandbox, executionStatus: 'ERROR', settled: true }, index).collected(5, index);
  /** Of five items in two sandboxes of a warmed pool every one has failed. */
  const failed = (rules: Partial<RunRules> = {}): RunLife => {
    const life = pooled({ warm: true }, rules);
    warmed(life, [box(1), box(2)]);
    for (const index of [0, 1, 2, 3, 4]) {
      const sandbox = box(1 + (index % 2));
      failsIn(worksIn(life, index, sandbox), index, sandbox);
    }
    return life;
  };
  const resume = (life: RunLife): RunLife =>
    life.send({ type: 'resumeRequested', requestId: 'again', classes: ['agent_error'] });

  it('has its pool made again, under other ids, before its items begin', () => {
    const life = resume(failed());
    expect(warmings(life)).toMatchObject([{ size: 2, round: expect.any(Number) as number }]);
    expect(new Set(phases(life))).toEqual(new Set(['waiting']));
    expect(life.its.pace?.heldBy).toBe('pool');
    warmed(life, [box(3), box(4)]);
    expect(phases(life).filter((phase) => phase === 'starting')).toHaveLength(2);
  });

  it('has no more made than the items that wait have use for', () => {
    const life = failed().send({ type: 'requeueRequested', requestId: 'one', keys: ['k3'] });
    expect(warmings(life)).toMatchObject([{ size: 1 }]);
  });

  it('has none made where its sandboxes were kept', () => {
    const life = resume(failed({ cleanup: { ...RULES.cleanup, sandbox: 'keep' } }));
    expect(warmings(life)).toEqual([]);
    expect(phases(life)).toContain('starting');
  });

  it('waits for the answer that is still out, and orders nothing more', () => {
    const life = warming().ask('cancelRequested');
    life.send({ type: 'resumeRequested', requestId: 'again', classes: ['cancelled'] });
    expect(warmings(life)).toEqual([]);
    expect(life.its).toMatchObject({ phase: 'running', pace: { heldBy: 'pool' } });
  });

  it('has it made when the run goes on, and not while it is drained', () => {
    const life = pooled({ warm: true });
    warmed(life, [box(1), box(2)]).ask('drainRequested');
    for (const index of [0, 1]) worksIn(life, index, box(index + 1));
    for (const index of [0, 1]) ends(life, index, box(index + 1));
    expect(life.its.sandboxes.map(({ state }) => state)).toEqual(['asked', 'asked']);
    life.send({ type: 'requeueRequested', requestId: 'one', keys: ['k0'] });
    expect(warmings(life)).toEqual([]);
    expect(warmings(resume(life))).toMatchObject([{ size: 2 }]);
  });
});

it('makes sandboxes ahead on the host that the job names', () => {
  const host = { name: 'gpu-1' };
  const { orders } = pooled({ warm: true, size: 2 }, { poolHost: host });
  expect(orders.filter(({ type }) => type === 'warmPool')).toMatchObject([{ size: 2, host }]);
});
