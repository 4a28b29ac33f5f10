/** A start whose engine gives no answer: it is accepted, carried out once and with its secrets, whether the engine had taken it or not. */
import { describe, expect, it } from 'vitest';
import { openSecrets } from '../../activities/redaction.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Delivery, Notifier } from '../../ports/notifier.ts';
import { activityWorld } from '../activities/activity-world.ts';
import { openService, type Service } from './service.ts';

const UNTIL_MS = 180_000;
const HEADERS = { 'idempotency-key': 'the-same' };

/** The first starts get no answer; `taken` says whether the engine has each of them. */
function unanswered(taken: readonly boolean[]) {
  const started: Delivery[] = [];
  const requests = (engine: Notifier): Notifier => ({
    async deliver(delivery) {
      if (delivery.event.type !== 'started') return await engine.deliver(delivery);
      const isTaken = taken[started.length];
      started.push(delivery);
      if (isTaken !== false) await engine.deliver(delivery);
      if (isTaken !== undefined)
        throw new ParleyError('engine_unreachable', 'Cannot get an answer: the test says so');
    },
  });
  return { started, requests };
}

const start = (service: Service) =>
  service.call({
    method: 'POST',
    path: '/api/v1/app-conversations',
    headers: HEADERS,
    body: {
      initial_message: { content: [{ type: 'text', text: 'go' }] },
      secrets: { TOKEN: 'planted-value' },
    },
  });

describe('a start that the engine does not answer', () => {
  it.each([
    ['took it', [true]],
    ['did not take it', [false, false]],
  ] as const)('and that %s', { timeout: UNTIL_MS }, async (_what, taken) => {
    const { started, requests } = unanswered(taken);
    const service = await openService({ requests });
    const first = await start(service);
    expect(first.status).toBe(200);
    const repeated = await start(service);
    expect(repeated.body.id).toBe(first.body.id);
    await expect
      .poll(async () => (await service.store.records.conversations()).map((row) => row.startTask), {
        timeout: UNTIL_MS,
      })
      .toEqual(['READY']);
    const [row] = await service.store.records.conversations();
    if (row === undefined) throw new Error('there is no conversation');
    expect(await openSecrets(service.world, row.conversationId)).toEqual({ TOKEN: 'planted-value' });
    await expect.poll(() => started.length, { timeout: UNTIL_MS }).toBe(taken.length + 1);
    // A delivery is written down once its answer has come.
    await expect.poll(() => service.application.startTasks.undelivered(), { timeout: UNTIL_MS }).toEqual([]);
    expect((await service.store.records.conversations()).length).toBe(1);
  });
});

describe('a start whose delivery cannot be noted', () => {
  it('has begun, is not forgotten, and is the same when it is repeated', { timeout: UNTIL_MS }, async () => {
    const around = await activityWorld({
      capacity: { installationMax: 9, userMax: 9, conversationsPerSandboxMax: 9 },
      pollMs: 10,
    });
    const { startTasks } = around.store;
    const note = startTasks.markDelivered.bind(startTasks);
    let failures = 1;
    const markDelivered = (taskId: string): Promise<void> =>
      (failures -= 1) < 0
        ? note(taskId)
        : Promise.reject(new ParleyError('store_unavailable', 'Cannot note it: the test says so'));
    Object.assign(startTasks, { markDelivered });
    const service = await openService({ around });
    const first = await start(service);
    expect(first.status).toBe(200);
    expect((await start(service)).body.id).toBe(first.body.id);
    await expect.poll(() => startTasks.undelivered(), { timeout: UNTIL_MS }).toEqual([]);
    expect((await service.store.records.conversations()).length).toBe(1);
  });
});

describe('a start that the engine refuses', () => {
  it('is forgotten with its secrets and its place, and may be asked for again', async () => {
    let isRefusing = true;
    const service = await openService({
      requests: (engine) => ({
        async deliver(delivery) {
          if (isRefusing) throw new ParleyError('codec_key_missing', 'Cannot encrypt it: the test says so');
          await engine.deliver(delivery);
        },
      }),
    });
    const refused = await start(service);
    expect([refused.status, refused.body.code]).toEqual([422, 'codec_key_missing']);
    expect(await service.store.startTasks.undelivered()).toEqual([]);
    isRefusing = false;
    const taken = await start(service);
    expect(taken.status).toBe(200);
    await expect
      .poll(async () => (await service.store.records.conversations()).map((row) => row.startTask), {
        timeout: UNTIL_MS,
      })
      .toEqual(['READY']);
  });
});
