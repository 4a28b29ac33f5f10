/** A run with a pool: how many items it holds, sandboxes made ahead, those that have had enough, and how all of them go. */
import { describe, expect, it } from 'vitest';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import type { RunItemRow } from '../../core/projection.ts';
import type { RunRules } from '../../core/run/state.ts';
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
    warmed(life, [box(1)], 'no more slots are free');
    expect(phases(life)).toEqual(['starting']);
    expect(life.orders.find(({ type }) => type === 'record')).toMatchObject({
      event: { code: 'pool_warmed', detail: '1 of 2 sandboxes: no more slots are free' },
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
