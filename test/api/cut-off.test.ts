/** A service that dies between accepting and handing over: what the next one makes of it (D18). */
import { describe, expect, it } from 'vitest';
import { launchScope, storedLaunchFacts } from '../../activities/launch-facts.ts';
import { conversationId } from '../../core/ids.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { takeUpStarts } from '../../api/conversations/start.ts';
import { activityWorld } from '../activities/activity-world.ts';
import { eventually, openService } from './service.ts';

const APP = '/api/v1/app-conversations';
const ID = conversationId('ab'.repeat(16));
const CAPACITY = { capacity: { installationMax: 9, userMax: 9, conversationsPerSandboxMax: 9 }, pollMs: 10 };

/** As if the process ended in the middle of the call: nobody ever hears of it again. */
const dead = (): Notifier => ({ deliver: () => new Promise(() => undefined) });
/** The event is durable, and the process ends before it could be noted. */
const deadAfter = (engine: Notifier): Notifier => ({
  deliver: async (delivery) => {
    await engine.deliver(delivery);
    return await new Promise(() => undefined);
  },
});

describe('a start that was cut off', () => {
  it.each([
    ['before the machine had it', dead],
    ['after the machine had it', deadAfter],
  ])('%s is carried out by the next process, once', async (_when, requests) => {
    const around = await activityWorld(CAPACITY);
    const first = await openService({ around, requests });
    const body = { conversation_id: ID, secrets: { TOKEN: 'value-1' } };
    void first.call({ method: 'POST', path: APP, body }).catch(() => undefined);
    await eventually(
      async () => {
        if (requests === dead) return (await storedLaunchFacts(around.world.vault, ID)) !== null;
        return (await around.store.records.conversation(ID)) !== null;
      },
      (isThere) => isThere,
    );
    await first.engine.stop();
    const next = await openService({ around });
    const found = await eventually(
      async () =>
        (await next.call({ path: `${APP}/start-tasks/search?conversation_id__eq=${ID}` })).body.items,
      ([task]) => task?.status === 'READY',
    );
    expect(found).toHaveLength(1);
    expect(next.agent.opened?.secrets ?? first.agent.opened?.secrets).toEqual({ TOKEN: 'value-1' });
    expect(await around.store.startTasks.undelivered()).toEqual([]);
  });

  it('before its secrets were sealed had no answer, and is forgotten', async () => {
    const around = await activityWorld(CAPACITY);
    const first = await openService({ around });
    const { vault } = first.application.world;
    const put = vault.put.bind(vault);
    Object.assign(vault, { put: () => new Promise(() => undefined) });
    const body = { conversation_id: ID, secrets: { TOKEN: 'value-1' } };
    void first.call({ method: 'POST', path: APP, body }).catch(() => undefined);
    await eventually(
      () => around.store.startTasks.undelivered(),
      (tasks) => tasks.length === 1,
    );
    await first.engine.stop();
    Object.assign(vault, { put });
    const next = await openService({ around });
    expect((await next.call({ path: `${APP}/start-tasks/count` })).body).toBe(0);
    expect(await vault.names(launchScope(ID))).toEqual([]);
  });
});

describe('a start that another service is about to seal', () => {
  it('is left to it', async () => {
    const around = await activityWorld(CAPACITY);
    const first = await openService({ around });
    const { vault, clock } = first.application.world;
    let seal: () => void = () => undefined;
    const put = vault.put.bind(vault);
    const sealing = new Promise<void>((resolve) => (seal = resolve));
    Object.assign(vault, { put: (...args: Parameters<typeof put>) => sealing.then(() => put(...args)) });
    const body = { conversation_id: ID, secrets: { TOKEN: 'value-1' } };
    const answer = first.call({ method: 'POST', path: APP, body });
    await eventually(
      () => around.store.startTasks.undelivered(),
      (tasks) => tasks.length === 1,
    );
    // A second service begins beside it.
    const later: (() => void)[] = [];
    const setTimer = (_at: number, fire: () => void) => {
      later.push(fire);
      return { cancel: () => undefined };
    };
    const beside = { now: () => clock.now(), steady: () => clock.steady(), setTimer };
    const world = { ...first.application.world, clock: beside };
    await takeUpStarts({ ...first.application, world }, { isAlone: false });
    expect(later).toHaveLength(1);
    expect(await around.store.startTasks.undelivered()).toHaveLength(1);
    seal();
    expect((await answer).status).toBe(200);
    later[0]?.();
    const found = await eventually(
      async () =>
        (await first.call({ path: `${APP}/start-tasks/search?conversation_id__eq=${ID}` })).body.items,
      ([task]) => task?.status === 'READY',
    );
    expect(found).toHaveLength(1);
    expect(first.agent.opened?.secrets).toEqual({ TOKEN: 'value-1' });
  });

  it('is forgotten when it had time enough', async () => {
    const around = await activityWorld(CAPACITY);
    const first = await openService({ around });
    const { vault, clock } = first.application.world;
    Object.assign(vault, { put: () => new Promise(() => undefined) });
    const body = { conversation_id: ID, secrets: { TOKEN: 'value-1' } };
    void first.call({ method: 'POST', path: APP, body }).catch(() => undefined);
    await eventually(
      () => around.store.startTasks.undelivered(),
      (tasks) => tasks.length === 1,
    );
    const setTimer = () => ({ cancel: () => undefined });
    const beside = { now: () => clock.now() + 61_000, steady: () => clock.steady(), setTimer };
    const world = { ...first.application.world, clock: beside };
    await takeUpStarts({ ...first.application, world }, { isAlone: false });
    expect(await around.store.startTasks.undelivered()).toEqual([]);
  });
});

describe('a sandbox whose slot was taken', () => {
  it('is made by the next process', async () => {
    const around = await activityWorld(CAPACITY);
    const first = await openService({ around, requests: dead });
    void first.call({ method: 'POST', path: '/api/v1/sandboxes' }).catch(() => undefined);
    await eventually(
      () => around.store.search.sandboxesNeverMade(),
      (rows) => rows.length === 1,
    );
    await first.engine.stop();
    const next = await openService({ around });
    await eventually(
      async () => (await next.call({ path: '/api/v1/sandboxes/search' })).body.items,
      ([row]) => row?.status === 'RUNNING',
    );
  });
});
