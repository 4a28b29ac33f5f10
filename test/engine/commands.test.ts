/** Commands: tries and their spacing by the class of the error, cancellation, and refusals that end a start. */
import { describe, expect, it } from 'vitest';
import type { ActivityContext } from '../../activities/activity.ts';
import type { MachineEvent } from '../../core/machine/command.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { specOf, reportOf, sandboxOf, untilCancelled } from './fake-activities.ts';
import {
  beginLife,
  conversationAt,
  message,
  newStore,
  started,
  storedConversation,
  type EngineLife,
} from './engine-harness.ts';
import { T0, turns, until } from './movable-clock.ts';

const unreachable = () => Promise.reject(new ParleyError('agent_unreachable', 'Cannot ask the agent: down'));

/** Instants at which attempts of a type began, relative to the first. */
async function attempts(life: EngineLife, forMs: number): Promise<readonly number[]> {
  const at: number[] = [];
  let seen = 0;
  const poll = async (): Promise<void> => {
    await turns();
    const now = life.idsOf('prepareRepository').length;
    for (; seen < now; seen += 1) at.push(life.clock.now() - T0);
  };
  await life.clock.move(forMs, poll);
  return at;
}

describe('a failed command', () => {
  it('is tried again with doubled waits up to the most, and fails for good when its tries are used up', async () => {
    const store = await newStore();
    const errors: (readonly [string, number])[] = [];
    const life = await beginLife({
      store,
      activities: {
        prepareRepository: { run: unreachable, retry: { initialMs: 500, maxMs: 3_000, attemptsMax: 6 } },
      },
      onActivityError: (_, { code }, attempt) => errors.push([code, attempt]),
    });
    await life.engine.deliver(started(1));
    expect(await attempts(life, 60_000)).toEqual([0, 500, 1_500, 3_500, 6_500, 9_500]);
    expect(new Set(life.idsOf('prepareRepository')).size).toBe(1);
    expect(errors).toEqual([0, 1, 2, 3, 4, 5].map((attempt) => ['agent_unreachable', attempt]));
    await life.engine.settled();
    const { startTask, startTaskDetail } = (await storedConversation(store, 1)) ?? {};
    expect([startTask, startTaskDetail]).toEqual([
      'ERROR',
      expect.stringContaining('Cannot ask the agent: down'),
    ]);
    // The sandbox that was made for it alone is paused, and no watch of it is left.
    const sandboxes = (await store.records.conversations({})).map(({ sandboxStatus }) => sandboxStatus);
    expect([sandboxes, await store.engine.outbox()]).toEqual([['PAUSED'], []]);
  });

  it('is tried without end when its machine bounds it', async () => {
    const life = await beginLife({
      store: await newStore(),
      activities: {
        prepareRepository: { run: unreachable, retry: { initialMs: 500, maxMs: 15_000, attemptsMax: null } },
      },
    });
    await life.engine.deliver(started(1));
    expect((await attempts(life, 10 * 60_000)).length).toBeGreaterThan(40);
  });

  it.each(['repository_failed', 'runtime_gone', 'internal'] as const)(
    'is answered at once when its error is definite: %s',
    async (code) => {
      const store = await newStore();
      const error = code === 'internal' ? new TypeError('a bug') : new ParleyError(code, 'Cannot clone: no');
      const life = await beginLife({ store, activities: { prepareRepository: () => Promise.reject(error) } });
      await life.engine.deliver(started(1));
      await life.engine.settled();
      expect(life.idsOf('prepareRepository')).toHaveLength(1);
      expect((await storedConversation(store, 1))?.startTaskDetail).toContain(
        code === 'internal' ? 'a bug' : code,
      );
    },
  );
});

describe('a cancelled command', () => {
  it('is told so, and its late answer is dropped', async () => {
    const store = await newStore();
    const calls: ActivityContext[] = [];
    const late: { answer: (event: MachineEvent) => void } = { answer: () => undefined };
    const createSandbox = (_: unknown, context: ActivityContext): Promise<MachineEvent> => {
      calls.push(context);
      return new Promise((resolve) => (late.answer = resolve));
    };
    const life = await beginLife({ store, activities: { createSandbox } });
    await life.engine.deliver(started(1));
    await until(() => calls.length === 1);
    expect(calls[0]?.signal.aborted).toBe(false);
    await life.clock.move(10 * 60_000, turns);
    expect(calls[0]?.signal.aborted).toBe(true);
    expect((await store.engine.outbox()).map(({ commandId }) => commandId)).not.toContain(
      life.idsOf('createSandbox')[0],
    );
    const steps = life.steps.length;
    late.answer({ type: 'sandboxReady', commandId: life.idsOf('createSandbox')[0] ?? '' });
    await turns();
    expect(life.steps.length).toBe(steps);
    expect((await storedConversation(store, 1))?.startTask).toBe('ERROR');
  });

  it('is not tried again', async () => {
    const activities = {
      createSandbox: () => Promise.reject(new ParleyError('runtime_unreachable', 'Cannot ask: down')),
    };
    const life = await beginLife({ store: await newStore(), activities });
    await life.engine.deliver(started(1));
    await until(() => life.idsOf('createSandbox').length === 1);
    const to = { machine: 'sandbox', id: sandboxOf(conversationAt(1)) } as const;
    await life.engine.deliver({ to, event: { type: 'deleteRequested', requestId: 'd' } });
    await turns();
    const tries = life.idsOf('createSandbox').length;
    await life.clock.move(60 * 60_000, turns);
    expect(life.idsOf('createSandbox')).toHaveLength(tries);
  });
});

describe('stop()', () => {
  it('tells what runs to stop, and leaves it in the store', async () => {
    const store = await newStore();
    const life = await beginLife({
      store,
      activities: { prepareRepository: (_, context) => untilCancelled(context) },
    });
    await life.engine.deliver(started(1));
    await until(() => life.idsOf('prepareRepository').length === 1);
    await life.engine.stop();
    const next = await beginLife({ store });
    await until(async () => (await storedConversation(store, 1))?.executionStatus === 'FINISHED');
    expect(next.idsOf('prepareRepository')).toEqual(life.idsOf('prepareRepository'));
  });
});

describe('refusals of the machines, through the engine', () => {
  it('ends a start that no sandbox accepts with placement_failed', async () => {
    const store = await newStore();
    const placeConversation = (command: {
      readonly id: string;
      readonly conversationId: ReturnType<typeof conversationAt>;
      readonly onlyLeaves?: true;
    }): MachineEvent => {
      if (command.onlyLeaves === true)
        return { type: 'placementRefused', commandId: command.id, code: 'placement_failed', reason: 'left' };
      const isFirst = command.conversationId === conversationAt(1);
      const spec = isFirst ? specOf(command.conversationId) : null;
      return { type: 'placed', commandId: command.id, sandboxId: sandboxOf(conversationAt(1)), spec };
    };
    const createSandbox = () => Promise.reject(new ParleyError('runtime_failed', 'Cannot start: no image'));
    const life = await beginLife({ store, activities: { placeConversation, createSandbox } });
    for (const index of [1, 2]) {
      await life.engine.deliver(started(index));
      await life.engine.settled();
    }
    expect((await storedConversation(store, 2))?.startTaskDetail).toContain('placement_failed');
  });

  it('refuses messages over the bound of the queue with queue_full', async () => {
    const life = await beginLife({
      store: await newStore(),
      activities: { deliverItem: (_, context) => untilCancelled(context) },
    });
    await life.engine.deliver(started(1));
    await until(() => life.idsOf('deliverItem').length === 1);
    await Promise.all(
      Array.from({ length: 101 }, (_, index) => life.engine.deliver(message(1, `m${index}`))),
    );
    await until(() => life.idsOf('record').length === 2);
    const details = life.ran.flatMap(({ command }) =>
      command.type === 'record' ? [command.event.detail] : [],
    );
    expect(details).toEqual(Array(2).fill(expect.stringContaining('queue_full')));
  });

  it('drops a report of an earlier incarnation of the sandbox', async () => {
    const life = await beginLife({ store: await newStore() });
    await life.engine.deliver(started(1));
    await life.engine.settled();
    const steps = life.steps.length;
    const to = { machine: 'conversation', id: conversationAt(1) } as const;
    const report = reportOf('ERROR', T0 + 1, 0);
    await life.engine.deliver({ to, event: { type: 'agentReported', commandId: null, report } });
    expect(life.steps.length).toBe(steps);
  });
});
