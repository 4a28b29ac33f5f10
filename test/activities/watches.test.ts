/** The two watches: what ends them, and when, on a clock that only the test moves. */
import { describe, expect, it } from 'vitest';
import type { CommandOf, MachineEvent } from '../../core/machine/command.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { spendRow } from '../contract/store-rows.ts';
import { T0, turns } from '../engine/movable-clock.ts';
import {
  AGENT_ORDER,
  activityWorld,
  answerOf,
  attempt,
  CONVERSATION,
  inSandbox,
  SANDBOX,
  type ActivityWorld,
} from './activity-world.ts';
import { agentEvent, view } from './fake-agent.ts';

const IDLE_MS = 1_200_000;

interface Watching {
  readonly around: ActivityWorld;
  readonly stop: AbortController;
  /** The answer, as soon as there is one. */
  answer: MachineEvent | null | undefined;
  error: unknown;
}

function begin(around: ActivityWorld, order: CommandOf<'watchIdle'> | CommandOf<'watchAgent'>): Watching {
  const watching: Watching = { around, stop: new AbortController(), answer: undefined, error: undefined };
  void attempt(around, order, { signal: watching.stop.signal, attempt: 0 }).then(
    (answer) => (watching.answer = answer),
    (error: unknown) => (watching.error = error),
  );
  return watching;
}

describe('watchIdle', () => {
  const order = (change: Partial<CommandOf<'watchIdle'>> = {}): CommandOf<'watchIdle'> => ({
    ...{
      type: 'watchIdle',
      id: 's#1',
      sandboxId: SANDBOX,
      generation: 1,
      since: T0,
      idleTimeMs: IDLE_MS,
      stale: false,
    },
    ...change,
  });
  async function watching(change: Partial<CommandOf<'watchIdle'>> = {}): Promise<Watching> {
    const around = await activityWorld();
    await inSandbox(around);
    around.agent.idle = IDLE_MS;
    const watch = begin(around, order(change));
    await turns();
    return watch;
  }

  it('ends at the idle time to the millisecond, and not before', async () => {
    const watch = await watching();
    await watch.around.clock.move(IDLE_MS - 1, turns);
    expect(watch.answer).toBeUndefined();
    await watch.around.clock.move(1, turns);
    expect(watch.answer).toMatchObject({ type: 'idleReached', commandId: 's#1', lastActivityAt: T0 });
  });

  it('counts from the latest activity that is known', async () => {
    const watch = await watching();
    await watch.around.clock.move(60_000, turns);
    await watch.around.world.activity.touch(SANDBOX, T0 + 60_000);
    await watch.around.clock.moveTo(T0 + 60_000 + IDLE_MS - 1, turns);
    expect(watch.answer).toBeUndefined();
    await watch.around.clock.move(1, turns);
    expect(watch.answer).toMatchObject({ lastActivityAt: T0 + 60_000 });
  });

  it('asks the agent before it calls a sandbox idle: work without events holds the lease', async () => {
    const watch = await watching();
    watch.around.agent.idle = 0;
    await watch.around.clock.move(2 * IDLE_MS, turns);
    expect(watch.answer).toBeUndefined();
    watch.around.agent.idle = IDLE_MS / 1_000;
    await watch.around.clock.move(IDLE_MS, turns);
    expect(watch.answer).toMatchObject({ type: 'idleReached' });
  });

  it('does not let an agent that is silent keep a sandbox up', async () => {
    const watch = await watching();
    watch.around.agent.error = new ParleyError('agent_unreachable', 'Cannot ask: down');
    await watch.around.clock.move(IDLE_MS, turns);
    expect(watch.answer).toMatchObject({ type: 'idleReached', lastActivityAt: T0 });
  });

  it('never ends by itself where the idle rule is off', async () => {
    const watch = await watching({ idleTimeMs: null });
    await watch.around.clock.move(IDLE_MS, turns);
    expect(watch.answer).toBeUndefined();
    watch.stop.abort();
    await turns();
    expect([watch.answer, watch.around.clock.timers]).toEqual([null, []]);
  });

  it('calls the runtime unknown after three looks in a row, not after two and an answer', async () => {
    const watch = await watching();
    const { clock, runtime } = watch.around;
    const lost = { kind: 'unknown', reason: 'timeout' } as const;
    runtime.presences.set(SANDBOX, lost);
    await clock.move(10_000, turns);
    runtime.up(SANDBOX);
    await clock.move(5_000, turns);
    runtime.presences.set(SANDBOX, lost);
    await clock.move(10_000, turns);
    expect(watch.answer).toBeUndefined();
    await clock.move(5_000, turns);
    expect(watch.answer).toEqual({ type: 'runtimeUnknown', commandId: 's#1' });
  });

  it('ends a stale watch with the first answer of the runtime', async () => {
    const around = await activityWorld();
    await inSandbox(around);
    around.runtime.presences.set(SANDBOX, { kind: 'unknown', reason: 'timeout' });
    const watch = begin(around, order({ stale: true, idleTimeMs: null }));
    await around.clock.move(60_000, turns);
    expect(watch.answer).toBeUndefined();
    around.runtime.up(SANDBOX);
    await around.clock.move(5_000, turns);
    expect(watch.answer).toEqual({ type: 'runtimeAnswered', commandId: 's#1' });
  });

  it.each([
    ['gone', { kind: 'gone' }, { type: 'runtimeGone' }],
    ['crashed', { kind: 'crashed', generation: 1, reason: 'oom' }, { type: 'runtimeCrashed', reason: 'oom' }],
    [
      'taken away by its host',
      { kind: 'stopped', generation: 1, isEvicted: true },
      { type: 'runtimeEvicted' },
    ],
    ['stopped from outside', { kind: 'stopped', generation: 1 }, { type: 'runtimeCrashed' }],
  ] as const)('tells gone, dead and stopped apart: %s', async (_, presence, answer) => {
    const watch = await watching();
    watch.around.runtime.presences.set(SANDBOX, presence);
    await watch.around.clock.move(5_000, turns);
    expect(watch.answer).toMatchObject({ commandId: 's#1', ...answer });
  });

  it('is not about another incarnation', async () => {
    const watch = await watching();
    watch.around.runtime.presences.set(SANDBOX, { kind: 'crashed', generation: 2, reason: 'oom' });
    await watch.around.clock.move(5_000, turns);
    expect(watch.answer).toBeUndefined();
  });
});

describe('watchAgent', () => {
  const order = (change: Partial<CommandOf<'watchAgent'>> = {}): CommandOf<'watchAgent'> => ({
    ...{ ...AGENT_ORDER, type: 'watchAgent', nanoUsdMax: null, noProgressMs: null },
    ...change,
  });
  async function watching(change: Partial<CommandOf<'watchAgent'>> = {}): Promise<Watching> {
    const around = await activityWorld();
    await inSandbox(around);
    around.agent.view = view(CONVERSATION, { executionStatus: 'RUNNING' });
    const watch = begin(around, order(change));
    await turns();
    return watch;
  }

  it('answers when the agent rests, with every event stored before', async () => {
    const watch = await watching();
    await watch.around.clock.move(60_000, turns);
    expect(watch.answer).toBeUndefined();
    watch.around.agent.pages = [[agentEvent('e1')], [agentEvent('e2')]];
    watch.around.agent.view = view(CONVERSATION, {
      executionStatus: 'FINISHED',
      updatedAt: T0 + 7,
      iterationLimitReached: true,
    });
    await watch.around.clock.move(5_000, turns);
    expect(watch.answer).toMatchObject({
      type: 'agentReported',
      commandId: 'c#1',
      report: { status: 'FINISHED', at: T0 + 7, generation: 1, limitReached: 'turns' },
    });
    expect(await watch.around.world.events.count(CONVERSATION)).toBe(2);
  });

  it('ends at the limit of spend, exactly', async () => {
    const watch = await watching({ nanoUsdMax: 10 });
    const spend = (callId: string, cost: number) =>
      spendRow(callId, { sessionId: CONVERSATION, cost: nanoUsd(cost) });
    await watch.around.world.spend.write([spend('a', 9)]);
    await watch.around.clock.move(5_000, turns);
    expect(watch.answer).toBeUndefined();
    await watch.around.world.spend.write([spend('b', 1)]);
    await watch.around.clock.move(5_000, turns);
    expect(watch.answer).toEqual({ type: 'agentLimitReached', commandId: 'c#1', limit: 'usd' });
  });

  it('ends without progress, counted from the newest event', async () => {
    const watch = await watching({ noProgressMs: 20_000 });
    await watch.around.clock.move(15_000, turns);
    watch.around.agent.pages = [[agentEvent('e1')]];
    await watch.around.clock.move(20_000, turns);
    expect(watch.answer).toBeUndefined();
    await watch.around.clock.move(5_000, turns);
    expect(watch.answer).toEqual({ type: 'agentLimitReached', commandId: 'c#1', limit: 'no_progress' });
  });

  it('takes a machine that was suspended, or a clock set forward, for no time without progress', async () => {
    const watch = await watching({ noProgressMs: 60_000 });
    await watch.around.clock.move(10_000, turns);
    watch.around.clock.setBack(-8 * 3_600_000);
    await watch.around.clock.move(20_000, turns);
    expect(watch.answer).toBeUndefined();
    await watch.around.clock.move(60_000, turns);
    expect(watch.answer).toMatchObject({ type: 'agentLimitReached', limit: 'no_progress' });
  });

  it('reports ERROR of an agent that no longer knows the conversation', async () => {
    const around = await activityWorld();
    await inSandbox(around);
    expect(await answerOf(around, order())).toMatchObject({
      type: 'agentReported',
      report: { status: 'ERROR', generation: 1 },
    });
  });

  it('leaves to the sandbox what became of a runtime', async () => {
    const around = await activityWorld();
    expect(await answerOf(around, order())).toBeNull();
    await expect(attempt(around, order())).rejects.toMatchObject({ code: 'runtime_gone' });
  });
});
