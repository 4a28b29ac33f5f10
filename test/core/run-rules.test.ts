/** The rulings about a batch run, one example each: retries, breaker, budget, limits, clean-up. */
import { describe, expect, it } from 'vitest';
import { CLEANUP_TIMEOUT_MS } from '../../core/limits.ts';
import * as at from './run-life.ts';
import { SANDBOX } from './sandbox-life.ts';

const retry = [
  { on: ['agent_error', 'stuck'], attempts: 2, initialMs: 1_000, factor: 2, maxMs: 1_500 },
] as const;
const tells = (life: at.RunLife) =>
  life.orders.flatMap((order) => (order.type === 'send' ? [order.event.type] : []));
const cleanUps = (life: at.RunLife) =>
  life.orders.flatMap((order) => (order.type === 'cleanUpSandbox' ? [order.how] : []));
const fail = (life: at.RunLife) => life.works().rests('ERROR').collected();
const cutOff = {
  interrupted: true,
  settled: true,
  executionStatus: 'RUNNING',
  sandboxStatus: 'PAUSED',
} as const;

describe('retries', () => {
  it('wait longer and longer up to a bound, count per class, and then end the item', () => {
    const life = fail(at.begun({ retry }));
    expect((life.item().notBefore ?? 0) - life.now).toBe(1_000);
    fail(life.timer());
    expect((life.item().notBefore ?? 0) - life.now).toBe(1_500);
    fail(life.timer());
    expect(life.item()).toMatchObject({
      phase: 'ended',
      attempt: 3,
      ending: { failureClass: 'agent_error' },
    });
  });

  it('are not taken in by late notices of an earlier attempt', () => {
    const life = fail(at.begun({ retry })).timer();
    const { state } = life;
    life.notice({ conversationId: at.conversationOf(0, 1), sandboxStatus: 'RUNNING', settled: true });
    expect(life.state).toBe(state);
    expect(life.works().item()).toMatchObject({ phase: 'working', conversationId: at.conversationOf(0, 2) });
  });

  it('are not begun by a request that comes again, but by their timer', () => {
    const life = at.begun({ retry });
    const again = { type: 'settingsChanged', requestId: 'q', settings: { concurrency: 1 } } as const;
    fail(life.send(again));
    const { state } = life;
    life.now = life.item().notBefore ?? 0;
    expect(life.send(again).state).toBe(state);
    expect(life.timer().item().phase).toBe('starting');
  });

  it('are held by the breaker and burn no attempts meanwhile', () => {
    const breaker = { on: ['agent_error'], windowMs: 3_600_000, count: 2 } as const;
    const life = fail(fail(at.begun({ retry, breaker })).timer());
    expect(life.its).toMatchObject({ mode: 'paused', reason: 'breaker:agent_error' });
    expect(life.item()).toMatchObject({ phase: 'waiting', attempt: 2 });
    expect(life.resume().timer().item().phase).toBe('starting');
  });
});

describe('an item with rules of its own', () => {
  it('is tried again by its own rules, beside others that go by those of the run', () => {
    const [rule] = retry;
    const after = (initialMs: number) => ({ retry: [{ ...rule, initialMs, maxMs: initialMs }] });
    const life = new at.RunLife({ ...after(60_000), concurrency: 3 }, [
      {},
      { own: { retry: [] } },
      { own: after(77_000) },
    ]);
    for (const index of [0, 1, 2]) life.works(index).rests('ERROR', index).collected(5, index);
    expect(life.its.items.map(({ phase }) => phase)).toEqual(['waiting', 'ended', 'waiting']);
    expect((life.item(2).notBefore ?? 0) - life.now).toBe(77_000);
  });

  it('ends by its own deadline, and rests in statuses of its own', () => {
    const { wait } = at.RULES;
    const own = { wait: { ...wait, deadlineMs: 5_000, until: ['ERROR'] as const } };
    const life = new at.RunLife({ concurrency: 2 }, [{}, { own }]).works(0).works(1);
    life.rests('FINISHED', 1).rests('FINISHED', 0);
    expect(life.its.items.map(({ phase }) => phase)).toEqual(['collecting', 'working']);
    life.timer();
    expect(life.item(1)).toMatchObject({ ending: { detail: 'the deadline of the job' } });
    expect(life.now - (life.item(1).admittedAt ?? 0)).toBe(5_000);
  });

  it('is collected at the end of its session where it says so', () => {
    const own = { wait: { ...at.RULES.wait, onSessionLimit: 'stop' as const } };
    const life = new at.RunLife({ concurrency: 2 }, [{}, { own }]).works(0).works(1);
    for (const index of [0, 1]) life.notice({ ...cutOff, pauseReason: 'session_limit' }, index);
    expect(life.its.items.map(({ phase }) => phase)).toEqual(['working', 'collecting']);
  });
});

describe('the budget', () => {
  const budget = { nanoUsd: 10, reserveNanoUsd: 5, mode: 'enforce' } as const;

  it('admits what still fits, the last nano-USD included, and holds the rest', () => {
    const life = new at.RunLife({ budget, concurrency: 3 }, [{}, {}, {}]);
    expect(life.its.items.map(({ phase }) => phase)).toEqual(['starting', 'starting', 'waiting']);
    expect(life.its.mode).toBe('normal');
    life.works(0).rests('FINISHED', 0).collected(5, 0).works(1).rests('FINISHED', 1).collected(5, 1);
    expect(life.its).toMatchObject({ mode: 'paused', reason: 'budget', spentNanoUsd: 10 });
  });

  it('lets no retry that is due spin the clock while it does not fit', () => {
    const life = new at.RunLife({ budget, concurrency: 3, retry: [{ ...retry[0], initialMs: 0 }] }, [{}, {}]);
    life.works(0).rests('ERROR', 0).collected(5, 0);
    expect(life.item(0).phase).toBe('waiting');
    expect(life.its.mode).toBe('normal');
    const due = life.item(0).notBefore ?? 0;
    expect(due).toBeLessThanOrEqual(life.now);
    expect(() => life.timer()).toThrow('there is none');
  });
});

describe('an item', () => {
  it('goes on in the same attempt after its session limit (D15)', () => {
    const life = at.working().notice({ ...cutOff, pauseReason: 'session_limit' });
    expect(tells(life)).toEqual(['continueRequested']);
    expect(life.item()).toMatchObject({ phase: 'working', attempt: 1, continued: 1 });
  });

  it('goes on after an idle release too, and after a user’s pause only when its user is back', () => {
    expect(tells(at.working().notice({ ...cutOff, pauseReason: 'idle' }))).toEqual(['continueRequested']);
    const life = at.working().notice({ ...cutOff, pauseReason: 'user' });
    expect(tells(life)).toEqual([]);
    expect(tells(life.notice({ ...cutOff, sandboxStatus: 'RUNNING' }))).toEqual(['continueRequested']);
  });

  it('ends by its limit as an outcome, not as a failure (D28)', () => {
    const life = new at.RunLife({}, [{ workingMs: 60_000 }]).works();
    expect(tells(life.timer())).toEqual(['interruptRequested']);
    life.rests('PAUSED').collected();
    expect(life.item().ending).toMatchObject({ outcome: 'limit_reached', failureClass: null });
  });

  it('is checked before it is collected, and a failed check changes no status (D28)', () => {
    const life = new at.RunLife({}, [{ hasVerify: true }]).works().rests('FINISHED');
    life.answer('itemVerified', { passed: false, detail: 'exit 1' });
    expect(life.item()).toMatchObject({
      phase: 'collecting',
      executionStatus: 'FINISHED',
      ending: { outcome: 'check_failed' },
    });
  });

  it('ends when its conversation is deleted while it starts', () => {
    const life = at
      .begun()
      .started()
      .notice({ deleted: true, startTask: 'WORKING', sandboxId: null, sandboxStatus: null });
    expect(life.item()).toMatchObject({ phase: 'ended', ending: { failureClass: 'cancelled' } });
  });
});

describe('control', () => {
  it('cancels what waits at once and what works after it is collected', () => {
    const life = new at.RunLife({}, [{}, {}]).works(0).ask('cancelRequested');
    expect(life.item(1)).toMatchObject({ phase: 'ended', ending: { outcome: 'cancelled' } });
    life.rests('PAUSED', 0);
    expect(life.types()).toContain('collectItem');
    expect(life.collected().item(0).ending?.outcome).toBe('cancelled');
  });

  it('drains: what works goes on, nothing new begins, until somebody resumes', () => {
    const life = new at.RunLife({}, [{}, {}])
      .works(0)
      .ask('drainRequested')
      .rests('FINISHED', 0)
      .collected(5, 0);
    expect(life.item(1).phase).toBe('waiting');
    expect(life.resume().item(1).phase).toBe('starting');
  });

  it('takes failures of the classes named up again, with the spend kept', () => {
    const life = fail(at.begun());
    expect(life.resume('stuck').item().phase).toBe('ended');
    expect(life.resume('agent_error').item().phase).toBe('starting');
    expect(life.its).toMatchObject({ phase: 'running', spentNanoUsd: 5 });
  });
});

describe('the session limit', () => {
  const cut = { ...cutOff, pauseReason: 'session_limit' } as const;

  it('continues the work in the same attempt by default, and stops it when the job says so (D15)', () => {
    const resumed = at.working().notice(cut);
    expect(tells(resumed)).toContain('continueRequested');
    expect(resumed.item()).toMatchObject({ phase: 'working', attempt: 1 });
    const stopped = at.working({ wait: { ...at.RULES.wait, onSessionLimit: 'stop' } }).notice(cut);
    expect(stopped.item()).toMatchObject({
      phase: 'collecting',
      ending: { outcome: 'limit_reached', detail: 'session_limit' },
    });
  });
});

describe('a check that cannot be run', () => {
  it('is a failure that may be tried again, and no verdict on the work', () => {
    const life = new at.RunLife({ retry: [{ ...retry[0], on: ['infra'] }] }, [{ hasVerify: true }]);
    life.works().rests('FINISHED').answer('verifyFailed', { reason: 'agent_unreachable: r' });
    expect(life.item()).toMatchObject({
      phase: 'collecting',
      ending: { outcome: 'failed', failureClass: 'infra' },
    });
    expect(life.collected().item()).toMatchObject({ phase: 'waiting', attempt: 1 });
  });
});

describe('clean-up', () => {
  it('comes after collection, and waits until the sandbox is gone', () => {
    const life = at.collecting();
    expect(cleanUps(life)).toEqual([]);
    expect(cleanUps(life.collected())).toEqual(['delete']);
    expect(life.its.phase).toBe('cleaning');
    expect(life.gone().its.phase).toBe('settling');
  });

  it("leaves a sandbox that holds somebody else's conversation to them", () => {
    const life = at.cleaning();
    const commandId = life.its.sandboxes[0]?.awaiting ?? 'none';
    life.send({ type: 'sandboxCleanedUp', commandId, sandboxId: SANDBOX, isOurs: false });
    expect(life.its).toMatchObject({ phase: 'settling', sandboxes: [{ state: 'kept' }] });
  });

  it('does not wait for ever', () => {
    const life = at.cleaning();
    const began = life.now;
    expect(life.timer().its.phase).toBe('settling');
    expect(life.now - began).toBe(CLEANUP_TIMEOUT_MS);
  });

  it('keeps the sandbox of what could not be collected, even when the item is tried again', () => {
    const life = at
      .begun({ retry: [{ ...retry[0], initialMs: 0 }] })
      .works()
      .rests('ERROR');
    life.answer('collectFailed', { reason: 'r' });
    expect(life.its.sandboxes).toMatchObject([{ state: 'kept' }]);
    expect(tells(life)).toEqual([]);
  });

  it('counts what an attempt cost whether or not it could be collected (D30)', () => {
    const life = at.begun().works().rests('FINISHED');
    const before = life.its.spentNanoUsd;
    life.answer('collectFailed', { reason: 'r', costNanoUsd: 70 });
    expect(life.its.spentNanoUsd - before).toBe(70);
    expect(life.item()).toMatchObject({ phase: 'ended', costNanoUsd: 70 });
  });

  it('keeps it also when its first notice comes behind the collection', () => {
    const life = at.begun().started().notice({ startTask: 'WORKING', sandboxStatus: null });
    life.ask('cancelRequested').timer().answer('collectFailed', { reason: 'r' });
    expect(life.item().phase).toBe('ended');
    life.notice({ startTask: 'ERROR' });
    expect(life.its.sandboxes).toMatchObject([{ sandboxId: SANDBOX, state: 'kept' }]);
    expect(cleanUps(life)).toEqual([]);
  });

  it('asks for a pause and does not wait for one that may have happened already', () => {
    const life = at.cleaning({ cleanup: { ...at.RULES.cleanup, sandbox: 'pause' } });
    expect(cleanUps(life)).toEqual(['pause']);
    expect(life.its.phase).toBe('settling');
  });
});
