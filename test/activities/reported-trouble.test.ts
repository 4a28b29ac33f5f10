/** Trouble is reported at the first failed try and removed when over: of commands, polls, and an agent's model. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Activities, Activity, WatchActivity } from '../../activities/activity.ts';
import { PATIENT } from '../../core/machine/retry.ts';
import { reportedActivities } from '../../activities/reported-activities.ts';
import { reportedEvents } from '../../activities/reported-events.ts';
import { conversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { fakeActivities } from '../engine/fake-activities.ts';
import { MovableClock, T0 } from '../engine/movable-clock.ts';
import { COLLECT_ORDER, CONVERSATION, SANDBOX } from './activity-world.ts';

const down = new ParleyError('runtime_unreachable', 'Cannot ask the runtime: it does not answer');

let store: Store;
let clock: MovableClock;
beforeEach(async () => {
  store = await openStore({ kind: 'sqlite', path: ':memory:' });
  clock = new MovableClock();
});

/** The reported activity of the order, which fails while `failing` holds an error. */
function toldOf(type: 'collectItem' | 'stopSandbox', failing: { error: Error | null }): Activity {
  const run = (): null => {
    if (failing.error !== null) throw failing.error;
    return null;
  };
  const { activities } = fakeActivities(clock, { [type]: { run, retry: PATIENT } });
  const told = reportedActivities(activities, { troubles: store.troubles, clock });
  return told[type] as unknown as Activity;
}

const STOP = { type: 'stopSandbox', id: `sandbox/${SANDBOX}#3`, sandboxId: SANDBOX, generation: 1 } as const;
const context = (attempt: number, signal = new AbortController().signal) => ({ attempt, signal });

describe('a command', () => {
  it('is told at its first failed try with cause, tries and the next one, and no longer when it went well', async () => {
    const failing: { error: Error | null } = { error: down };
    const stop = toldOf('stopSandbox', failing);
    await expect(stop.run(STOP, context(0))).rejects.toBe(down);
    const first = {
      about: { machine: 'sandbox', id: SANDBOX },
      item: null,
      what: 'stopSandbox',
      cause: 'runtime_unreachable: Cannot ask the runtime: it does not answer',
      since: T0,
      tries: 1,
      nextAt: T0 + 500,
    };
    expect(await store.troubles.open()).toEqual([first]);
    await clock.move(500);
    await expect(stop.run(STOP, context(1))).rejects.toBe(down);
    expect(await store.troubles.open()).toEqual([{ ...first, tries: 2, nextAt: T0 + 500 + 1_000 }]);
    failing.error = null;
    await clock.move(1_000);
    expect(await stop.run(STOP, context(2))).toBeNull();
    expect(await store.troubles.open()).toEqual([]);
  });

  it('ends what another process has told of', async () => {
    await expect(toldOf('stopSandbox', { error: down }).run(STOP, context(0))).rejects.toBe(down);
    await toldOf('stopSandbox', { error: null }).run(STOP, context(1));
    expect(await store.troubles.open()).toEqual([]);
  });

  it('that is refused for good, or called off, is no trouble that lasts', async () => {
    const refused = new ParleyError('runtime_failed', 'no such image');
    await expect(toldOf('stopSandbox', { error: refused }).run(STOP, context(0))).rejects.toBe(refused);
    const off = AbortSignal.abort();
    await expect(toldOf('stopSandbox', { error: down }).run(STOP, context(0, off))).rejects.toBe(down);
    expect(await store.troubles.open()).toEqual([]);
  });

  it('for an item is its run’s trouble with that item', async () => {
    const failing = { error: new ParleyError('collect_failed', 'the folder is away') };
    await expect(toldOf('collectItem', failing).run(COLLECT_ORDER, context(0))).rejects.toThrow();
    expect(await store.troubles.open()).toMatchObject([
      { about: { machine: 'run', id: 'run-1' }, item: 'one', what: 'collectItem' },
    ]);
  });

  it('is carried out where nothing can be told', async () => {
    await store.close();
    await expect(toldOf('stopSandbox', { error: down }).run(STOP, context(0))).rejects.toBe(down);
    expect(await toldOf('stopSandbox', { error: null }).run(STOP, context(1))).toBeNull();
  });
});

it('a watch is told look by look, and goes on without trouble after one that went well', async () => {
  const failing: { error: Error | null } = { error: down };
  const { activities } = fakeActivities(clock);
  const poll: WatchActivity['poll'] = () => {
    if (failing.error !== null) return Promise.reject(failing.error);
    return Promise.resolve({ kind: 'again', at: clock.now() + 60_000, memory: null });
  };
  const watching = {
    ...activities,
    watchIdle: { ...activities.watchIdle, poll, retry: PATIENT },
  } as Activities;
  const told = reportedActivities(watching, { troubles: store.troubles, clock }).watchIdle;
  const order = {
    type: 'watchIdle',
    id: `sandbox/${SANDBOX}#4`,
    sandboxId: SANDBOX,
    generation: 1,
    since: T0,
    idleTimeMs: 1,
    stale: false,
  } as const;
  await expect(told.poll(order, null)).rejects.toBe(down);
  await clock.move(500);
  await expect(told.poll(order, null)).rejects.toBe(down);
  expect(await store.troubles.open()).toMatchObject([{ what: 'watchIdle', since: T0, tries: 2 }]);
  failing.error = null;
  await clock.move(1_000);
  const stop = new AbortController();
  const run = told.run(order, context(2, stop.signal));
  await clock.move(1_000);
  expect(await store.troubles.open()).toEqual([]);
  stop.abort();
  expect(await run).toBeNull();
});

describe('an agent’s model', () => {
  const event = (id: string, second: number, value: unknown) => ({
    id,
    timestamp: `2026-11-25T02:00:0${second}.000000`,
    kind: 'ConversationStateUpdateEvent',
    key: 'model_trouble',
    value,
  });
  const failed = (tries: number) => ({ cause: 'Cannot reach it', tries, wait_ms: 500 });
  const at = (second: number): number => Date.parse(`2026-11-25T02:00:0${second}Z`);

  it('is told by its events, and an earlier word read again changes nothing', async () => {
    const events = reportedEvents(store.events, store.troubles);
    const [one, two] = [event('e1', 1, failed(1)), event('e2', 2, failed(2))];
    await events.append(CONVERSATION, [one], 1);
    await events.append(CONVERSATION, [one, two], 2);
    const trouble = { about: { machine: 'conversation', id: CONVERSATION }, item: null, what: 'model' };
    const told = { ...trouble, cause: 'Cannot reach it', since: at(1), tries: 2, nextAt: at(2) + 500 };
    expect(await store.troubles.open()).toEqual([told]);
    await events.append(CONVERSATION, [event('e3', 3, null)], 3);
    expect(await store.troubles.open()).toEqual([]);
    await reportedEvents(store.events, store.troubles).append(CONVERSATION, [one, two], 4);
    expect(await store.troubles.open()).toEqual([]);
  });

  it.each([['text'], [{ cause: 1, tries: 1, wait_ms: 1 }], [{ cause: 'x', tries: -1, wait_ms: 1 }], [{}]])(
    'is not told by %j, which is no word of an agent of ours',
    async (value) => {
      await reportedEvents(store.events, store.troubles).append(CONVERSATION, [event('e1', 1, value)], 1);
      expect(await store.troubles.open()).toEqual([]);
    },
  );

  it('of a deleted conversation is forgotten, and a late word does not bring it back', async () => {
    const events = reportedEvents(store.events, store.troubles);
    await events.append(CONVERSATION, [event('e1', 1, failed(1))], 1);
    await store.records.removeConversation(CONVERSATION);
    expect(await store.troubles.open()).toEqual([]);
    await events.append(conversationId(CONVERSATION), [event('e2', 2, failed(2))], 2);
    expect(await store.troubles.open()).toEqual([]);
  });
});
