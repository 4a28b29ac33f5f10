/** The installation as a whole: slots and the line, spend over time, current trouble; each for whom it is. */
import { expect, it } from 'vitest';
import { conversationId, runId, sandboxId, userId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { conversationRow, runRow, sandboxRow, spendRow } from '../contract/store-rows.ts';
import { openService, startReady, type Service } from './service.ts';

const HOUR_MS = 3_600_000;
const ID = conversationId('a'.repeat(32));

it('says who has slots and who waits for one, and to a user its own alone', async () => {
  const service = await openService({
    deployment: {
      capacity: { installationMax: 3, userMax: 2, conversationsPerSandboxMax: 5 },
      onFull: 'queue',
    },
  });
  await startReady(service);
  await startReady(service);
  await startReady(service, {}, service.ben);
  const start = async (body: object, key: string): Promise<void> =>
    void (await service.call({ method: 'POST', path: '/api/v1/app-conversations', key, body }));
  await start({ title: 'Of Ada' }, service.ada);
  await start({ title: 'Of <b>Ben</b>' }, service.ben);
  const waiting = async (key: string, query = '') =>
    (await service.call({ path: `/api/v1/capacity/waiting/search${query}`, key })).body;
  await expect.poll(async () => (await waiting(service.ada)).items.length).toBe(2);
  const { items } = await waiting(service.ada);
  expect(items).toMatchObject([
    { kind: 'conversation', title: 'Of Ada', user_id: 'ada', position: 1, reason: 'user_limit' },
    { title: 'Of <b>Ben</b>', user_id: 'ben', reason: 'installation_limit' },
  ]);
  const first = await waiting(service.ada, '?limit=1');
  expect(first.items).toMatchObject([{ user_id: 'ada' }]);
  expect((await waiting(service.ada, `?limit=1&page_id=${first.next_page_id}`)).items).toMatchObject([
    { user_id: 'ben' },
  ]);
  expect((await waiting(service.ben)).items).toMatchObject([{ user_id: 'ben' }]);

  const capacity = async (key: string) => (await service.call({ path: '/api/v1/capacity', key })).body;
  expect(await capacity(service.ada)).toEqual({
    installation: { taken: 3, max: 3 },
    users: [
      { user_id: 'ada', taken: 2, max: 2 },
      { user_id: 'ben', taken: 1, max: 2 },
    ],
    ...{ waiting: 2, on_full: 'queue', warm_pool: null },
  });
  expect((await capacity(service.ben)).users).toEqual([{ user_id: 'ben', taken: 1, max: 2 }]);
  expect((await capacity(await service.issue('eve'))).users).toEqual([{ user_id: 'eve', taken: 0, max: 2 }]);
});

async function spent(service: Service): Promise<number> {
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const { store } = service;
  await store.records.project([
    conversationRow(ID, { userId: userId('ada'), tags: { team: 'blue' } }),
    conversationRow(conversationId('b'.repeat(32)), { userId: userId('ben'), tags: {} }),
  ]);
  const call = (id: string, change: object) =>
    spendRow(id, { startedAt: now - HOUR_MS, endedAt: now, state: 'succeeded', user: null, ...change });
  await store.spend.write([
    call('a1', { sessionId: ID, modelName: 'coder', cost: nanoUsd(5) }),
    call('a2', { sessionId: ID, modelName: 'small', cost: nanoUsd(3), startedAt: now }),
    call('b1', { sessionId: 'b'.repeat(32), modelName: 'coder', cost: nanoUsd(7), state: 'failed' }),
    call('k1', {
      ...{ sessionId: null, modelName: 'coder', keyName: 'ci', team: 'search', user: 'eve' },
      ...{ tags: ['night', '<b>'], cost: nanoUsd(11) },
    }),
    call('k2', { sessionId: null, modelName: 'coder', keyName: 'ci', cost: null, costSource: 'unpriced' }),
    call('k3', { sessionId: null, modelName: 'coder', keyName: 'ci', state: 'open', cost: null }),
    call('k4', { sessionId: null, startedAt: now - 400 * HOUR_MS, cost: nanoUsd(1_000) }),
  ]);
  return now;
}

it('sums spend over time by each dimension, each call once, and for a user its own conversations', async () => {
  const service = await openService();
  const now = await spent(service);
  const to = new Date(now + HOUR_MS).toISOString();
  const from = new Date(now - HOUR_MS).toISOString();
  const spend = async (by: string, key = service.ada) =>
    (await service.call({ path: `/api/v1/spend?by=${by}&from=${from}&to=${to}`, key })).body;
  const models = await spend('model');
  expect(models).toMatchObject({ by: 'model', from, to, bucket_seconds: 3_600 });
  expect(models.total).toMatchObject({ calls: 5, failed: 1, unpriced: 1, cost_nano_usd: 26 });
  expect(models.groups).toMatchObject([
    { kind: 'named', name: 'coder', calls: 4, cost_nano_usd: 23 },
    { kind: 'named', name: 'small', calls: 1, cost_nano_usd: 3 },
  ]);
  expect(models.buckets).toEqual([
    { at: from, kind: 'named', name: 'coder', calls: 4, cost_nano_usd: 23 },
    { at: new Date(now).toISOString(), kind: 'named', name: 'small', calls: 1, cost_nano_usd: 3 },
  ]);
  const named = async (by: string, key = service.ada) => {
    const { groups } = await spend(by, key);
    return groups.map(({ name, cost_nano_usd: cost }: { name: string; cost_nano_usd: number }) => [
      name,
      cost,
    ]);
  };
  expect(await named('user')).toEqual([
    ['eve', 11],
    ['ada', 8],
    ['ben', 7],
    ['', 0],
  ]);
  expect(await named('team')).toEqual([
    ['', 15],
    ['search', 11],
  ]);
  expect(await named('key')).toEqual([
    ['', 15],
    ['ci', 11],
  ]);
  expect(new Map(await named('tag'))).toEqual(
    new Map([
      ['<b>', 11],
      ['night', 11],
      ['team=blue', 8],
      ['', 7],
    ]),
  );
  expect((await spend('tag')).total).toMatchObject({ calls: 5, cost_nano_usd: 26 });
  expect(await named('model', service.ben)).toEqual([['coder', 7]]);
  const long = await service.call({ path: `/api/v1/spend?from=2020-01-01T00:00:00Z&to=${to}` });
  expect([long.status, long.body.detail[0].loc]).toEqual([422, ['query', 'from']]);
});

it('counts names beyond the ten dearest together, and days that are kept as totals alone', async () => {
  const service = await openService();
  const day = Math.floor(Date.now() / (24 * HOUR_MS)) * 24 * HOUR_MS;
  await service.store.spend.write(
    Array.from({ length: 14 }, (_, i) =>
      spendRow(`m${i}`, {
        ...{ startedAt: day - 48 * HOUR_MS + i, endedAt: day, state: 'succeeded', sessionId: null },
        ...{ modelName: `model-${i}`, cost: nanoUsd(100 - i) },
      }),
    ),
  );
  const groups = async () => (await service.call({ path: '/api/v1/spend?by=model' })).body.groups;
  const before = await groups();
  expect(before).toHaveLength(11);
  expect(before.find(({ kind }: { kind: string }) => kind === 'others')).toMatchObject({
    ...{ name: '', calls: 4, cost_nano_usd: 100 - 10 + 100 - 11 + 100 - 12 + 100 - 13 },
  });
  await service.store.accounts.fold(day - 24 * HOUR_MS, 100);
  expect(await groups()).toEqual(before);
});

it('lists what goes wrong, and to a user its own alone', async () => {
  const service = await openService();
  const { store, world } = service;
  const now = Date.now();
  const lost = sandboxId('5'.repeat(32));
  await store.records.project([
    conversationRow(ID, {
      ...{ userId: userId('ben'), startTask: 'ERROR', startTaskDetail: 'no <b>such</b> branch' },
      ...{ title: 'Broken', updatedAt: now },
    }),
    sandboxRow(lost, { userId: userId('ben'), status: 'MISSING', detail: 'runtime_gone', createdAt: now }),
    sandboxRow(sandboxId('6'.repeat(32)), { status: 'MISSING', detail: 'deleted', createdAt: now }),
    runRow({ runId: runId('held'), name: 'nightly', phase: 'running', reason: 'breaker:infra' }),
  ]);
  await store.troubles.failed({
    ...{ about: { machine: 'sandbox', id: lost }, item: null, what: 'createSandbox', cause: 'no image' },
    ...{ tries: 3, nextAt: now + 60_000, at: now },
  });
  await store.lifecycle.record(
    {
      about: { machine: 'run', id: 'held' },
      conversationId: null,
      code: 'finally_failed',
      detail: 'notify 1: 500',
    },
    now,
  );
  await world.spend.noteLoss({
    ...{ calls: 2, costNanoUsd: nanoUsd(5), from: now - 10, to: now - 5, mayBeMore: false, seenAt: now },
  });
  const kinds = async (key: string) => {
    const { items } = (await service.call({ path: '/api/v1/trouble', key })).body;
    return items.map((one: { kind: string; title: string; text: string }) => [one.kind, one.title, one.text]);
  };
  const all = await kinds(service.ada);
  expect(all).toContainEqual(['failed_start', 'Broken', 'no <b>such</b> branch']);
  expect(all).toContainEqual(['failed_sandbox', '55555555', 'MISSING: runtime_gone']);
  expect(all).toContainEqual(['held_run', 'nightly', 'held by breaker:infra']);
  expect(all).toContainEqual(['retrying', '55555555', 'createSandbox: no image']);
  expect(all).toContainEqual(['failed_last_step', 'nightly', 'notify 1: 500']);
  expect(all.filter(([kind]: string[]) => kind === 'lost_spend')).toHaveLength(1);
  expect(all).toHaveLength(6);
  expect((await kinds(service.ben)).map(([kind]: string[]) => kind).sort()).toEqual([
    'failed_sandbox',
    'failed_start',
    'retrying',
  ]);
  expect(await kinds(await service.issue('eve'))).toEqual([]);
});

it('finds sandboxes by status on the server, however many are gone, and says what is in each', async () => {
  const service = await openService();
  const living = await startReady(service, { title: 'Inside' });
  const gone = Array.from({ length: 120 }, (_, i) =>
    sandboxRow(sandboxId(i.toString(16).padStart(32, 'f')), {
      ...{ status: 'MISSING', available: false, holdsSlot: false, createdAt: Date.now() + 1_000 + i },
    }),
  );
  await service.store.records.project(gone);
  const search = async (query: string) =>
    (await service.call({ path: `/api/v1/sandboxes/search?${query}` })).body;
  const up = await search('status=STARTING&status=running&status=PAUSED&status=ERROR');
  expect(up.items.map(({ id }: { id: string }) => id)).toEqual([living.sandboxId]);
  const count = async (query: string) =>
    (await service.call({ path: `/api/v1/sandboxes/count?${query}` })).body;
  expect([await count('status=MISSING'), await count('status=RUNNING'), await count('')]).toEqual([
    120, 1, 121,
  ]);
  const oldest = await search('status=MISSING&sort_order=CREATED_AT&limit=1');
  expect(oldest.items[0].id).toBe(gone[0]?.sandboxId);
  expect((await search(`id__begins=${living.sandboxId.slice(0, 8)}`)).items).toHaveLength(1);
  const inside = await service.call({
    path: `/api/v1/sandboxes/conversations?id=${living.sandboxId}&id=${gone[0]?.sandboxId}`,
  });
  expect(inside.body).toEqual([
    { sandbox_id: living.sandboxId, total: 1, conversations: [{ id: living.id, title: 'Inside' }] },
    { sandbox_id: gone[0]?.sandboxId, total: 0, conversations: [] },
  ]);
});

it('names a conversation after what it is asked, else after where it works', async () => {
  const service = await openService();
  const titled = async (body: object) => {
    const { id } = await startReady(service, body);
    return (await service.call({ path: `/api/v1/app-conversations?ids=${id}` })).body[0].title;
  };
  const asked = (text: string) => ({ initial_message: { content: [{ type: 'text', text }] } });
  expect(await titled(asked('# Count\n the files'))).toBe('Count the files');
  expect(await titled({ ...asked('Count'), title: 'Mine' })).toBe('Mine');
  const long = await titled(asked('word '.repeat(60)));
  expect([long.endsWith('…'), long.length < 100]).toEqual([true, true]);
  expect(await titled({})).toMatch(/^Conversation [0-9a-f]{5}$/);
});

it('searches the audit log by who, what, about what, when and outcome', async () => {
  const service = await openService();
  const { audit } = service.application;
  const entry = { userId: 'ada', keyId: 1, action: 'store_secret', about: 'one', status: 201, at: 1_000 };
  await audit.append(entry);
  await audit.append({ ...entry, userId: 'ben', action: 'revoke_key', about: 'TOKEN-7', at: 2_000 });
  await audit.append({ ...entry, action: 'revoke_key', about: '9', status: 404, at: 3_000 });
  const search = async (query: string) => {
    const { items } = (await service.call({ path: `/api/v1/audit/search?${query}` })).body;
    return items.map(({ about }: { about: string }) => about);
  };
  expect(await search('user_id=ben')).toEqual(['TOKEN-7']);
  expect(await search('action=revoke_key')).toEqual(['9', 'TOKEN-7']);
  expect(await search('about__contains=token')).toEqual(['TOKEN-7']);
  expect(await search('outcome=refused')).toEqual(['9']);
  const between = 'at__gte=1970-01-01T00:00:02Z&at__lt=1970-01-01T00:00:03Z';
  expect(await search(between)).toEqual(['TOKEN-7']);
  const first = (await service.call({ path: '/api/v1/audit/search?limit=2' })).body;
  expect(first.items).toHaveLength(2);
  const rest = (await service.call({ path: `/api/v1/audit/search?limit=2&page_id=${first.next_page_id}` }))
    .body;
  expect([rest.items.length, rest.next_page_id]).toEqual([1, null]);
  expect((await service.call({ path: '/api/v1/audit/search', key: service.ben })).status).toBe(403);
});

it('shows virtual keys with their spend to administrators, and blocks and removes them', async () => {
  const service = await openService();
  const { proxyKeys, store } = { ...service.application, store: service.store };
  const key = {
    ...{ hash: 'd'.repeat(64), name: 'ci', tail: 'abcd', createdAt: 1_000, expiresAt: null, team: 'search' },
    ...{ userId: null, models: ['coder'], rpm: 10, tpm: null, parallelMax: null, budgetNanoUsd: 100 },
    ...{ budgetWindowMs: null, tags: ['night'], metadata: {}, isBlocked: false },
  };
  await proxyKeys.put(key);
  await proxyKeys.put({ ...key, hash: 'e'.repeat(64), name: 'other', budgetNanoUsd: null });
  await store.spend.write([spendRow('x', { keyName: 'ci', startedAt: 2_000, cost: nanoUsd(42) })]);
  const search = async (query: string) =>
    (await service.call({ path: `/api/v1/proxy-keys/search?${query}` })).body;
  const first = await search('limit=1');
  expect(first.items).toMatchObject([
    { name: 'ci', tail: 'abcd', budget_nano_usd: 100, spent_nano_usd: 42, blocked: false, models: ['coder'] },
  ]);
  expect((await search(`limit=1&page_id=${first.next_page_id}`)).items).toMatchObject([{ name: 'other' }]);
  expect((await search('name__contains=OTH')).items).toHaveLength(1);
  const path = `/api/v1/proxy-keys/${'d'.repeat(64)}`;
  expect((await service.call({ method: 'PATCH', path, body: { blocked: true } })).body.blocked).toBe(true);
  expect((await proxyKeys.find('d'.repeat(64)))?.isBlocked).toBe(true);
  expect((await service.call({ method: 'DELETE', path })).status).toBe(200);
  expect((await service.call({ method: 'DELETE', path })).status).toBe(404);
  expect((await service.call({ path: '/api/v1/proxy-keys/search', key: service.ben })).status).toBe(403);
});
