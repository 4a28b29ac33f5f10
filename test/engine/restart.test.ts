/** A process that dies, and the next one on the same store: it continues exactly where the other was. */
import { describe, expect, it } from 'vitest';
import type { MachineEvent } from '../../core/machine/command.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { sandboxOf } from './fake-activities.ts';
import {
  beginLife,
  conversationAt,
  newStore,
  started,
  storedConversation,
  type EngineLife,
} from './engine-harness.ts';
import { T0, turns, until } from './movable-clock.ts';

const MINUTE_MS = 60_000;
const never = (): Promise<MachineEvent> => new Promise(() => undefined);
const SANDBOX = { machine: 'sandbox', id: sandboxOf(conversationAt(1)) } as const;

/** Fields that say when, and the agent's clock, differ by nothing here: the clock stands still. */
async function wholeLife(
  batchEventsMax: number,
): Promise<{ readonly commits: number; readonly end: unknown }> {
  const store = await newStore();
  const life = await beginLife({ store, batchEventsMax });
  await life.engine.deliver(started(1));
  await life.engine.settled();
  return { commits: life.store.commits.length, end: await endOf(store) };
}

async function endOf(store: Awaited<ReturnType<typeof newStore>>): Promise<unknown> {
  const sandbox = await store.engine.load(SANDBOX);
  const outbox = (await store.engine.outbox()).map(({ commandId }) => commandId);
  return {
    conversation: await storedConversation(store, 1),
    sandbox,
    outbox,
    inbox: await store.engine.inbox(),
  };
}

describe('an engine on the store of one that died', () => {
  it.each([1, 256])(
    'ends the same, whichever commit was the last (%i events per commit)',
    async (batchEventsMax) => {
      const { commits, end } = await wholeLife(batchEventsMax);
      expect(commits).toBeGreaterThan(8);
      for (let commitsLeft = 1; commitsLeft < commits; commitsLeft += 1) {
        const store = await newStore();
        const first = await beginLife({ store, batchEventsMax, commitsLeft });
        await first.engine.deliver(started(1));
        await until(() => first.store.commits.length === commitsLeft);
        await turns();
        const answered = new Set(first.store.commits.flatMap(({ outboxRemoved }) => outboxRemoved));
        const second = await beginLife({ store, batchEventsMax });
        await until(async () => (await storedConversation(store, 1))?.executionStatus === 'FINISHED');
        await second.engine.settled();
        expect(await endOf(store)).toEqual(end);
        // At least once, with the same id; and never again once its answer is durable.
        expect(second.ran.filter(({ id }) => answered.has(id))).toEqual([]);
      }
    },
  );

  it('carries out again what was out, under the same id', async () => {
    const store = await newStore();
    const first = await beginLife({ store, activities: { prepareRepository: never } });
    await first.engine.deliver(started(1));
    await until(() => first.idsOf('prepareRepository').length === 1);
    first.crash();
    const second = await beginLife({ store });
    await until(() => second.idsOf('prepareRepository').length === 1);
    expect(second.idsOf('prepareRepository')).toEqual(first.idsOf('prepareRepository'));
    expect(second.idsOf('createSandbox')).toEqual([]);
    // The watch is waiting by nature: it is taken up again, too.
    expect(second.idsOf('watchIdle')).toEqual(first.idsOf('watchIdle'));
  });

  it('arms the timers again, and lets fire what has passed meanwhile', async () => {
    const status = async (life: EngineLife): Promise<unknown> => {
      await life.engine.settled();
      return ((await store.engine.load(SANDBOX))?.state as SandboxState | undefined)?.status;
    };
    const store = await newStore();
    const first = await beginLife({ store, activities: { createSandbox: never } });
    await first.engine.deliver(started(1));
    await until(() => first.idsOf('createSandbox').length === 1);
    expect(first.clock.timers).toContain(T0 + 10 * MINUTE_MS);
    first.crash();
    const second = await beginLife({ store, now: T0 + MINUTE_MS, activities: { createSandbox: never } });
    await turns();
    expect(second.clock.timers).toContain(T0 + 10 * MINUTE_MS);
    second.crash();
    const third = await beginLife({ store, now: T0 + 11 * MINUTE_MS, activities: { createSandbox: never } });
    await until(async () => (await storedConversation(store, 1))?.startTask === 'ERROR');
    expect(await status(third)).toBe('ERROR');
  });

  it('keeps the count of tries and the time of the next one', async () => {
    const store = await newStore();
    const down = { run: () => Promise.reject(new ParleyError('agent_unreachable', 'Cannot ask: down')) };
    const first = await beginLife({ store, activities: { prepareRepository: down } });
    await first.engine.deliver(started(1));
    await until(() => first.ran.length > 0 && first.clock.timers.includes(T0 + 500));
    await until(async () => (await store.engine.outbox()).some(({ attempt }) => attempt === 1));
    first.crash();
    const second = await beginLife({ store, activities: { prepareRepository: down } });
    await turns();
    expect(second.idsOf('prepareRepository')).toEqual([]);
    await second.clock.move(499);
    expect(second.idsOf('prepareRepository')).toEqual([]);
    await second.clock.move(1);
    await until(() => second.idsOf('prepareRepository').length === 1);
    expect(second.ran.find(({ type }) => type === 'prepareRepository')?.attempt).toBe(1);
  });
});
