/** A service that dies between accepting a start and delivering it: what the next service does with it (D18). */
import { describe, expect, it } from 'vitest';
import { launchScope, storedLaunchFacts } from '../../activities/launch-facts.ts';
import { conversationId } from '../../core/ids.ts';
import { START_LEASE_MS } from '../../core/limits.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { takeUpStarts } from '../../api/conversations/start-delivery.ts';
import { activityWorld } from '../activities/activity-world.ts';
import { eventually, openService, type Service } from './service.ts';

const APP = '/api/v1/app-conversations';
const ID = conversationId('ab'.repeat(16));
const CAPACITY = { capacity: { installationMax: 9, userMax: 9, conversationsPerSandboxMax: 9 }, pollMs: 10 };

/** As if the process ended in the middle of the call: the call never returns. */
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

/** A service that begins beside another one, `laterMs` later; it checks for starts when `look` is called. */
async function beside({ application }: Service, laterMs: number) {
  const { clock } = application.world;
  const due: (() => void)[] = [];
  const setTimer = (_at: number, fire: () => void) => {
    due.push(fire);
    return { cancel: () => undefined };
  };
  const world = {
    ...application.world,
    clock: { now: () => clock.now() + laterMs, steady: () => clock.steady(), setTimer },
  };
  await takeUpStarts({ ...application, world }, { isAlone: false });
  return { look: () => due.splice(0).forEach((fire) => fire()) };
}

/** A service that hangs between accepting a start and storing its secrets. */
async function hanging() {
  const around = await activityWorld(CAPACITY);
  const first = await openService({ around });
  const { vault } = first.application.world;
  const put = vault.put.bind(vault);
  let seal: () => void = () => undefined;
  const sealing = new Promise<void>((resolve) => (seal = resolve));
  Object.assign(vault, { put: (...args: Parameters<typeof put>) => sealing.then(() => put(...args)) });
  const call = {
    method: 'POST',
    path: APP,
    headers: { 'idempotency-key': 'the-same' },
    body: { conversation_id: ID, secrets: { TOKEN: 'value-1' } },
  };
  const answer = first.call(call);
  await eventually(
    () => around.store.startTasks.undelivered(),
    (tasks) => tasks.length === 1,
  );
  return { around, first, call, answer, seal, whole: () => Object.assign(vault, { put }) };
}

const tasksOf = async (service: Service) =>
  (await service.call({ path: `${APP}/start-tasks/search?conversation_id__eq=${ID}` })).body.items;

describe('a start that another service is about to seal', () => {
  it('is left to it for as long as its lease lasts', async () => {
    const { around, first, answer, seal } = await hanging();
    const other = await beside(first, START_LEASE_MS - 1_000);
    other.look();
    other.look();
    expect(await around.store.startTasks.undelivered()).toHaveLength(1);
    seal();
    expect((await answer).status).toBe(200);
    expect(
      await eventually(
        () => tasksOf(first),
        ([task]) => task?.status === 'READY',
      ),
    ).toHaveLength(1);
    expect(first.agent.opened?.secrets).toEqual({ TOKEN: 'value-1' });
  });

  it('is forgotten after it, and whoever wakes up then has not begun it', async () => {
    const { around, first, call, answer, seal, whole } = await hanging();
    const other = await beside(first, START_LEASE_MS + 1_000);
    other.look();
    await eventually(
      () => around.store.startTasks.undelivered(),
      (tasks) => tasks.length === 0,
    );
    seal();
    const { status, body } = await answer;
    expect([status, body.code]).toEqual([409, 'store_conflict']);
    expect(await around.store.records.conversations()).toEqual([]);
    expect(await around.world.vault.names(launchScope(ID))).toEqual([]);
    whole();
    expect((await first.call(call)).status).toBe(200);
    await eventually(
      () => tasksOf(first),
      ([task]) => task?.status === 'READY',
    );
    expect(first.agent.opened?.secrets).toEqual({ TOKEN: 'value-1' });
  });

  it('is sealed by its repeat, which has the secrets as well', async () => {
    const { first, call, answer, seal, whole } = await hanging();
    whole();
    const repeated = await first.call(call);
    expect(repeated.status).toBe(200);
    seal();
    expect((await answer).body.id).toBe(repeated.body.id);
    expect(
      await eventually(
        () => tasksOf(first),
        ([task]) => task?.status === 'READY',
      ),
    ).toHaveLength(1);
    expect(first.agent.opened?.secrets).toEqual({ TOKEN: 'value-1' });
  });
});

describe('a start whose service was gone when its engine had no answer', () => {
  it('is brought on by one that was there all along', async () => {
    const around = await activityWorld(CAPACITY);
    const first = await openService({ around, requests: dead });
    void first.call({ method: 'POST', path: APP, body: { conversation_id: ID } }).catch(() => undefined);
    await eventually(
      async () =>
        await around.store.startTasks.stageOf((await around.store.startTasks.undelivered())[0]?.taskId ?? ''),
      (stage) => stage === 'sealed',
    );
    const { application } = first;
    const living = { ...first, application: { ...application, requests: first.engine } };
    const early = await beside(living, START_LEASE_MS - 1_000);
    early.look();
    expect(await around.store.records.conversations()).toEqual([]);
    const other = await beside(living, START_LEASE_MS + 1_000);
    other.look();
    expect(
      await eventually(
        () => tasksOf(first),
        ([task]) => task?.status === 'READY',
      ),
    ).toHaveLength(1);
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
