/** Sandboxes of the warm pool over the API: who gets one, a repeated request, and a service that died in between. */
import { expect, it } from 'vitest';
import { takeUpSandboxes } from '../../api/sandboxes/sandbox-commands.ts';
import { sandboxId, userId, type SandboxId } from '../../core/ids.ts';
import { eventually, openService, startReady, type Service } from './service.ts';

const WARM_POOL = { size: 1, maxAgeMs: 3_600_000, spec: 'as configured' };
const PATH = '/api/v1/sandboxes';
/** How long the pool has had it. */
const AGE_MS = 60_000;

async function pooled(
  service: Service,
  digit: string,
): Promise<{ readonly id: SandboxId; readonly at: number }> {
  const id = sandboxId(digit.repeat(32));
  const { warmPool, deployment } = service.world;
  const at = Date.now() - AGE_MS;
  await warmPool.reserve({ sandboxId: id, spec: WARM_POOL.spec, limits: deployment.capacity, now: at });
  service.runtime.up(id);
  await warmPool.ready(id, at);
  return { id, at };
}

const running = (service: Service, id: SandboxId) =>
  eventually(
    () => service.world.records.sandbox(id),
    (row) => row?.status === 'RUNNING',
  );

it('gives the sandbox to whoever asks first, and the same to a repeated request', async () => {
  const service = await openService({ deployment: { warmPool: WARM_POOL } });
  const { id, at } = await pooled(service, 'e');
  const create = (key: string, user?: string) =>
    service.call({
      ...{ method: 'POST', path: PATH, headers: { 'idempotency-key': key } },
      ...(user === undefined ? {} : { key: user }),
    });
  const hidden = await service.call({ path: `${PATH}?id=${id}` });
  expect(hidden.body).toEqual([null]);
  expect((await create('one')).body).toMatchObject({ id, created_by_user_id: 'ada' });
  expect((await create('one')).body.id).toBe(id);
  expect((await create('two')).body.id).not.toBe(id);
  expect((await create('one', service.ben)).body.id).not.toBe(id);
  expect(await running(service, id)).toMatchObject({ createdBy: 'api', sessionStartedAt: at });
  const foreign = await service.call({ path: `${PATH}?id=${id}`, key: service.ben });
  expect(foreign.body).toEqual([null]);
});

it('brings a claimed one to life whose machine a dead service never told', async () => {
  const service = await openService({ deployment: { warmPool: WARM_POOL } });
  const { id, at } = await pooled(service, 'f');
  const limits = service.world.deployment.capacity;
  const wanted = { sandboxId: sandboxId('d'.repeat(32)), userId: userId('ada'), limits, now: Date.now() };
  await service.world.placement.reserveSandbox({ ...wanted, warm: id });
  await takeUpSandboxes(service.application);
  expect(await running(service, id)).toMatchObject({ userId: 'ada', sessionStartedAt: at });
  expect(service.runtime.started.map(({ generation }) => generation)).toEqual([1]);
});

it('accepts a start when all slots are taken, and one of them by the pool', async () => {
  const capacity = { installationMax: 1, userMax: 5, conversationsPerSandboxMax: 20 };
  const service = await openService({ deployment: { warmPool: WARM_POOL, capacity } });
  const { id } = await pooled(service, 'e');
  const { sandboxId: placed } = await startReady(service);
  expect(sandboxId(placed)).toBe(id);
  const refused = await service.call({ method: 'POST', path: '/api/v1/app-conversations', body: {} });
  expect([refused.status, refused.body.code]).toEqual([429, 'concurrency_limit_reached']);
});
