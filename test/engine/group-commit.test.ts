/** Durable first, then visible: what callers, commands and other machines get to see, and when. */
import { describe, expect, it } from 'vitest';
import type { CommitBatch } from '../../ports/engine-store.ts';
import { sandboxOf, untilCancelled } from './fake-activities.ts';
import {
  beginLife,
  conversationAt,
  message,
  newStore,
  started,
  storedConversation,
} from './engine-harness.ts';
import { turns, until } from './movable-clock.ts';

const keys = (batch: CommitBatch): readonly string[] =>
  batch.entities.map(({ address }) => address.machine).sort();

describe('deliver()', () => {
  it('resolves after the commit, and no command is carried out before it', async () => {
    const store = await newStore();
    const life = await beginLife({ store });
    life.store.hold();
    let accepted = false;
    const delivery = life.engine.deliver(started(1)).then(() => (accepted = true));
    await turns();
    expect(accepted).toBe(false);
    expect(life.ran).toEqual([]);
    expect(await storedConversation(store, 1)).toBeNull();
    life.store.release();
    await delivery;
    expect(await storedConversation(store, 1)).not.toBeNull();
    await life.engine.settled();
    expect(life.ran[0]?.type).toBe('placeConversation');
  });

  it('waits as long as the store fails, hands nothing out, and then goes on', async () => {
    const store = await newStore();
    const errors: unknown[] = [];
    const life = await beginLife({ store, onCommitError: (error) => errors.push(error) });
    life.store.failures = 3;
    let accepted = 0;
    for (const index of [1, 2]) void life.engine.deliver(started(index)).then(() => (accepted += 1));
    await until(() => errors.length === 1);
    await life.clock.move(400);
    await until(() => errors.length === 3);
    expect([accepted, life.ran.length, life.store.commits.length]).toEqual([0, 0, 0]);
    await life.clock.move(200);
    await until(() => accepted === 2);
    await life.engine.settled();
    expect(errors).toEqual(Array(3).fill(expect.objectContaining({ code: 'store_unavailable' })));
    for (const index of [1, 2])
      expect((await storedConversation(store, index))?.executionStatus).toBe('FINISHED');
  });

  it('is success for a tombstone, and changes nothing', async () => {
    const store = await newStore();
    const life = await beginLife({ store });
    await life.engine.deliver(started(1));
    await life.engine.settled();
    const to = { machine: 'conversation', id: conversationAt(1) } as const;
    await life.engine.deliver({ to, event: { type: 'deleteRequested', requestId: 'd' } });
    await life.engine.settled();
    expect((await store.engine.load(to))?.done).toBe(true);
    const own = (): number => life.steps.filter(({ address }) => address.id === to.id).length;
    const steps = own();
    await life.engine.deliver(message(1, 'late'));
    await life.engine.deliver(started(1));
    await life.engine.settled();
    expect(own()).toBe(steps);
  });
});

describe('a group commit', () => {
  it('holds the states of sender and receiver of a message between machines', async () => {
    const life = await beginLife({ store: await newStore() });
    await life.engine.deliver(started(1));
    await life.engine.settled();
    const spec = life.store.commits.find((batch) => keys(batch).includes('sandbox'));
    expect(spec && keys(spec)).toEqual(['conversation', 'sandbox']);
    expect(spec?.inboxAdded).toEqual([]);
    expect(spec?.outboxRemoved).toEqual(life.idsOf('placeConversation'));
    expect(spec?.outboxAdded.map(({ commandId }) => commandId)).toEqual(life.idsOf('createSandbox'));
  });

  it('holds at most 256 events, and none is lost at the bound', async () => {
    const store = await newStore();
    const sizes: number[] = [];
    const life = await beginLife({ store, onCommit: (events) => sizes.push(events) });
    const all = Array.from({ length: 600 }, (_, index) => life.engine.deliver(started(index)));
    await Promise.all(all);
    await life.engine.settled();
    expect(Math.max(...sizes)).toBe(256);
    const statuses = await Promise.all(
      all.map(async (_, index) => (await storedConversation(store, index))?.executionStatus),
    );
    expect(new Set(statuses)).toEqual(new Set(['FINISHED']));
    expect(await store.engine.inbox()).toEqual([]);
    const out = (await store.engine.outbox()).map(({ command }) => (command as { type: string }).type);
    expect([new Set(out), out.length]).toEqual([new Set(['watchIdle']), 600]);
  });

  it('keeps messages that did not fit in the inbox, across the death of the process', async () => {
    const store = await newStore();
    const first = await beginLife({ store, batchEventsMax: 1, commitsLeft: 2 });
    await first.engine.deliver(started(1));
    await until(() => first.store.commits.length === 2);
    const waiting = await store.engine.inbox();
    expect(waiting.map(({ to, event }) => [to, event])).toEqual([
      [
        { machine: 'sandbox', id: sandboxOf(conversationAt(1)) },
        expect.objectContaining({ type: 'attachRequested' }),
      ],
    ]);
    const second = await beginLife({ store });
    await until(async () => (await storedConversation(store, 1))?.executionStatus === 'FINISHED');
    await second.engine.settled();
    expect(await store.engine.inbox()).toEqual([]);
  });
});

describe('settled()', () => {
  it('waits for every command but watches', async () => {
    const open: { answer: () => void } = { answer: () => undefined };
    const createSandbox = (command: { readonly id: string }) =>
      new Promise<{ type: 'sandboxReady'; commandId: string }>((resolve) => {
        open.answer = () => resolve({ type: 'sandboxReady', commandId: command.id });
      });
    const life = await beginLife({
      store: await newStore(),
      activities: { createSandbox, watchAgent: (_, context) => untilCancelled(context) },
    });
    await life.engine.settled();
    await life.engine.deliver(started(1));
    let settled = false;
    const quiet = life.engine.settled().then(() => (settled = true));
    await until(() => life.idsOf('createSandbox').length === 1);
    await turns();
    expect(settled).toBe(false);
    open.answer();
    await quiet;
    expect(life.idsOf('watchAgent')).toHaveLength(1);
  });
});
