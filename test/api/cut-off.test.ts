/** A service that dies between accepting and handing over: what the next one makes of it (D18). */
import { describe, expect, it } from 'vitest';
import { launchScope, storedLaunchFacts } from '../../activities/launch-facts.ts';
import { conversationId } from '../../core/ids.ts';
import type { Notifier } from '../../ports/notifier.ts';
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
