/** What goes wrong around the loop: a stopped engine, a machine that throws, a start that meets passed deadlines. */
import { describe, expect, it } from 'vitest';
import { START_TASK_TIMEOUT_MS } from '../../core/limits.ts';
import {
  beginLife,
  conversationAt,
  message,
  newStore,
  started,
  storedConversation,
} from './engine-harness.ts';
import { T0, turns } from './movable-clock.ts';

const never = (): Promise<never> => new Promise(() => undefined);

describe('a stopped engine', () => {
  it('refuses what is delivered to it, and what it had not committed', async () => {
    const life = await beginLife({ store: await newStore() });
    await life.engine.stop();
    await expect(life.engine.deliver(started(1))).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('refuses deliveries whose commit failed while it stopped', async () => {
    const life = await beginLife({ store: await newStore() });
    life.store.failures = Infinity;
    const delivery = expect(life.engine.deliver(started(1))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await turns();
    const stopping = life.engine.stop();
    await life.clock.move(10_000);
    await Promise.all([delivery, stopping]);
  });
});

describe('a machine that throws', () => {
  it('loses its event and nobody else’s', async () => {
    const store = await newStore();
    const address = { machine: 'conversation', id: conversationAt(9) } as const;
    await store.engine.commit({
      entities: [{ address, state: { phase: 'of another version' }, deadline: null, done: false }],
      outboxAdded: [],
      outboxRetried: [],
      outboxRemoved: [],
      inboxAdded: [],
      inboxRemoved: [],
      projections: [],
    });
    const thrown: string[] = [];
    const life = await beginLife({ store, onStepError: (_, { id }) => thrown.push(id) });
    await Promise.all([life.engine.deliver(message(9, 'm')), life.engine.deliver(started(1))]);
    await life.engine.settled();
    expect(thrown).toEqual([conversationAt(9)]);
    expect((await storedConversation(store, 1))?.startTask).toBe('READY');
  });
});

describe('a start', () => {
  it('knows what is out before a passed deadline can cancel it', async () => {
    const store = await newStore();
    const first = await beginLife({ store, activities: { prepareRepository: never } });
    await first.engine.deliver(started(1));
    await turns();
    first.crash();
    const second = await beginLife({
      store,
      now: T0 + START_TASK_TIMEOUT_MS,
      activities: { prepareRepository: never },
      slowOutbox: turns,
    });
    await second.clock.move(0);
    await second.engine.settled();
    expect((await storedConversation(store, 1))?.startTask).toBe('ERROR');
    expect(
      (await store.engine.outbox()).map(({ command }) => (command as { type: string }).type),
    ).not.toContain('prepareRepository');
  });
});
