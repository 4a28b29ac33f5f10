/** One idempotency key, one request: what every route that takes one answers to another request under it. */
import { describe, expect, it } from 'vitest';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import type { Route } from '../../api/application/route.ts';
import { SHA256 } from '../../host/job/job-file.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import { createKeyMinter } from '../../store/spend/key-minter.ts';
import { sealKey } from '../../store/access/seal-key.ts';
import { demoPlan } from '../cli/rows.ts';
import { openService, startReady, type Service, type ServiceAnswer, type Started } from './service.ts';

const APP = '/api/v1/app-conversations';

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
}

const text = (one: string): object => ({ content: [{ type: 'text', text: one }] });

function planOf(change: Partial<Plan> = {}): Plan {
  const { hash: _hash, ...plan } = { ...demoPlan(), ...change };
  return { ...plan, hash: hashPlan(plan, SHA256) };
}

/** For each operation a request, and another one that the same key must not stand for. */
const PAIRS: Readonly<Record<string, (started: Started) => readonly [Asked, Asked]>> = {
  start_app_conversation: () => [
    { path: APP, body: { title: 'a' } },
    { path: APP, body: { title: 'b' } },
  ],
  stream_start_app_conversation: () => [
    { path: `${APP}/stream-start`, body: { tags: { a: '1' } } },
    { path: `${APP}/stream-start`, body: { tags: { a: '2' } } },
  ],
  send_message: ({ id }) => [
    { path: `${APP}/${id}/send-message`, body: text('one') },
    { path: `${APP}/${id}/send-message`, body: text('two') },
  ],
  queue_pending_message: ({ id }) => [
    { path: `/api/v1/conversations/${id}/pending-messages`, body: text('one') },
    // Another route: the machine knows a message by the key alone.
    { path: `${APP}/${id}/send-message`, body: text('one') },
  ],
  answer_confirmation: ({ id }) => [
    { path: `${APP}/${id}/confirmation`, body: { accept: true } },
    { path: `${APP}/${id}/confirmation`, body: { accept: false } },
  ],
  interrupt_agent: ({ id }) => [
    { path: `${APP}/${id}/interrupt` },
    { path: `${APP}/${id}/send-message`, body: text('go on') },
  ],
  create_sandbox: () => [{ path: '/api/v1/sandboxes' }, { path: '/api/v1/sandboxes?sandbox_spec_id=fake' }],
  pause_sandbox: ({ sandboxId }) => [
    { path: `/api/v1/sandboxes/${sandboxId}/pause` },
    { path: `/api/v1/sandboxes/${sandboxId}/resume` },
  ],
  resume_sandbox: ({ sandboxId }) => [
    { path: `/api/v1/sandboxes/${sandboxId}/resume` },
    { path: `/api/v1/sandboxes/${sandboxId}/pause` },
  ],
  delete_sandbox: ({ sandboxId }) => [
    { method: 'DELETE', path: `/api/v1/sandboxes/${sandboxId}` },
    { method: 'DELETE', path: `/api/v1/sandboxes/${sandboxId}?sandbox_id=${sandboxId}` },
  ],
  submit_run: () => [
    { path: '/api/v1/runs', body: { plan: planOf({ secrets: SECRETS }), secrets: { TOKEN: 'one' } } },
    { path: '/api/v1/runs', body: { plan: planOf({ secrets: SECRETS }), secrets: { TOKEN: 'two' } } },
  ],
};
const SECRETS = { TOKEN: { from: 'env', name: 'TOKEN' } } as const;

const ask = (service: Service, { method = 'POST', ...asked }: Asked, key: string): Promise<ServiceAnswer> =>
  service.call({ method, ...asked, headers: { 'idempotency-key': key } });

const taking = APPLICATION_ROUTES.filter((one: Route) => one.takesKey === true);

describe('a key that was used', () => {
  it.each(taking.map(({ operation }) => operation))('%s: is 409 for another request', async (operation) => {
    const service = await openService();
    const pair = PAIRS[operation];
    if (pair === undefined) throw new Error(`say here what another request of ${operation} is`);
    const [first, other] = pair(await startReady(service));
    const done = await ask(service, first, 'k');
    expect(done.status, done.text).toBeLessThan(300);
    const again = await ask(service, first, 'k');
    expect(again.status, again.text).toBe(done.status);
    const refused = await ask(service, other, 'k');
    expect([refused.status, refused.body.code], refused.text).toEqual([409, 'idempotency_conflict']);
    expect((await ask(service, first, 'k')).status).toBe(done.status);
  });

  it('is refused where it is empty: it would keep nothing from being done twice', async () => {
    const service = await openService();
    const [first] = PAIRS['submit_run']?.(await startReady(service)) ?? [];
    if (first === undefined) throw new Error('there is a first');
    expect((await ask(service, first, '')).status).toBe(422);
  });

  it('is told by the document of each route that takes one', async () => {
    const { body } = await (await openService()).call({ path: '/openapi.json' });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the document is not ours to type here
    const operations = Object.values<Record<string, any>>(body.paths).flatMap((one) => Object.values(one));
    const told = operations.filter(({ parameters }) =>
      parameters.some(({ name }: { name: string }) => name === 'Idempotency-Key'),
    );
    expect(told.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(PAIRS).toSorted());
    expect(told.every(({ responses }) => responses['409'].description.includes('idempotency_conflict'))).toBe(
      true,
    );
  });

  it('is the same for the same body with its keys in another order, and free after a request that was none', async () => {
    const service = await openService();
    const start = { path: APP, body: { tags: { a: '1', b: '2' } } };
    const { body } = await ask(service, start, 'k');
    const turned = { path: APP, body: { tags: { b: '2', a: '1' } } };
    expect((await ask(service, turned, 'k')).body.id).toBe(body.id);
    const { id } = await startReady(service);
    const path = `${APP}/${id}/send-message`;
    expect((await ask(service, { path, body: text(' ') }, 'm')).status).toBe(422);
    expect((await ask(service, { path, body: text('said') }, 'm')).status).toBe(200);
    const control = { path: '/api/v1/runs', body: { plan: { ...planOf(), description: 'changed' } } };
    expect((await ask(service, control, 'r')).body.code).toBe('plan_invalid');
    expect((await ask(service, { path: '/api/v1/runs', body: { plan: planOf() } }, 'r')).status).toBe(201);
  });

  it('stands in the body where a run is steered', async () => {
    const service = await openService();
    await ask(service, { path: '/api/v1/runs', body: { plan: planOf() } }, 'run-1');
    const steer = (body: object) =>
      service.call({ method: 'POST', path: '/api/v1/runs/run-1/control', body });
    const hold = { type: 'holdRequested', requestId: 'r' };
    expect([(await steer(hold)).status, (await steer(hold)).status]).toEqual([200, 200]);
    expect((await steer({ type: 'drainRequested', requestId: 'r' })).body.code).toBe('idempotency_conflict');
    expect((await steer({ ...hold, requestId: 'r'.repeat(256) })).status).toBe(422);
  });

  it('leaves a mark that nobody can compute who has not the key that seals: it may have held a secret', () => {
    const minter = (fill: number) => createKeyMinter(sealKey(new Uint8Array(32).fill(fill)));
    const mark = minter(1).requestMark('{"secrets":{"PIN":"1234"}}');
    expect(minter(1).requestMark('{"secrets":{"PIN":"1234"}}')).toBe(mark);
    expect(minter(1).requestMark('{"secrets":{"PIN":"1235"}}')).not.toBe(mark);
    expect(minter(2).requestMark('{"secrets":{"PIN":"1234"}}')).not.toBe(mark);
  });
});
