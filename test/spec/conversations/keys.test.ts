/** Who may call, with which key, and how often. */
import { describe, expect, it } from 'vitest';
import { eventually, openService, startReady } from '../../api/service.ts';

const APP = '/api/v1/app-conversations';
const PROFILE = '/api/v1/settings/profiles/fast';

describe('API keys', () => {
  it('C88: are a bearer credential; none, a wrong one, an expired one and one in the address open nothing', async () => {
    const service = await openService();
    expect((await service.call({ path: `${APP}/search` })).status).toBe(200);
    const expired = await service.issue('ada', { expiresAt: Date.now() - 1 });
    for (const key of [null, 'pa-wrong', expired, `${service.ada}x`]) {
      const answer = await service.call({ path: `${APP}/search`, key });
      expect([answer.status, answer.body]).toEqual([401, { detail: 'Unauthorized', code: 'unauthorized' }]);
    }
    const inAddress = await service.call({ path: `${APP}/search?api_key=${service.ada}` });
    expect(inAddress.status).toBe(401);
    expect(JSON.stringify(service.lines)).not.toContain(service.ada);
    expect(service.lines.at(-1)).toMatchObject({ status: 401, route: `${APP}/search`, userId: null });
  });

  it('C90: are issued with scope and end, shown once, and revoked at once', async () => {
    const service = await openService();
    const issued = await service.call({
      method: 'POST',
      path: '/api/keys',
      body: { name: 'ci', user_id: 'carl', expires_at: '2100-01-01T00:00:00Z' },
    });
    const { key, id } = issued.body;
    expect((await service.call({ path: '/api/v1/users/me', key })).body).toMatchObject({
      id: 'carl',
      role: 'user',
    });
    expect((await service.call({ path: '/api/keys', key })).text).not.toContain(key);
    const refused = await service.call({ method: 'POST', path: '/api/keys', key, body: { scope: 'admin' } });
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    expect((await service.call({ path: '/api/v1/audit/search', key })).status).toBe(403);
    expect((await service.call({ method: 'DELETE', path: `/api/keys/${id}`, key })).status).toBe(200);
    expect((await service.call({ path: '/api/keys', key })).status).toBe(401);
  });

  it('are revoked by their user or an administrator, and are not there for others', async () => {
    const service = await openService();
    const body = { user_id: 'carl' };
    const issue = async () => (await service.call({ method: 'POST', path: '/api/keys', body })).body;
    const [own, others] = [await issue(), await issue()];
    const revoke = (id: number, key?: string) =>
      service.call({ method: 'DELETE', path: `/api/keys/${id}`, ...(key === undefined ? {} : { key }) });
    expect((await revoke(own.id, service.ben)).status).toBe(404);
    expect((await revoke(own.id)).status).toBe(200);
    expect((await service.call({ path: '/api/keys', key: own.key })).status).toBe(401);
    expect((await revoke(own.id)).status).toBe(404);
    expect((await service.call({ path: '/api/keys', key: others.key })).status).toBe(200);
  });

  it('C89: of the profile API are taken in X-Session-API-Key, and a profile survives the round trip without its key', async () => {
    const service = await openService();
    const headers = { 'x-session-api-key': service.ada };
    const save = (body: object) => service.call({ method: 'POST', path: PROFILE, key: null, headers, body });
    const llm = {
      model: 'openai/coder',
      base_url: 'http://proxy.local/v1',
      api_key: 'sk-of-profile',
      extra_headers: { 'x-team': 'blue' },
    };
    expect((await save({ llm })).status).toBe(201);
    const { api_key: _key, ...rest } = llm;
    await save({ preserve_existing_api_key: true, llm: { ...rest, extra_headers: { 'x-team': 'red' } } });
    const read = await service.call({ path: PROFILE, key: null, headers });
    expect(read.body).toEqual({
      name: 'fast',
      config: { ...rest, api_key: null, extra_headers: { 'x-team': 'red' } },
      api_key_set: true,
    });
    expect(read.text).not.toContain('sk-of-profile');
    await service.call({ method: 'POST', path: `${PROFILE}/activate` });
    await startReady(service);
    expect(service.agent.opened?.llm).toMatchObject({ model: 'coder', extraHeaders: { 'x-team': 'red' } });
    const renamed = await service.call({
      method: 'POST',
      path: `${PROFILE}/rename`,
      body: { new_name: 'slow' },
    });
    expect(renamed.body.name).toBe('slow');
    const listed = (await service.call({ path: '/api/v1/settings/profiles' })).body;
    expect([listed.active_profile, listed.profiles[0].api_key_set]).toEqual(['slow', true]);
    expect((await save({ llm: { temperature: 1 } })).status).toBe(422);
    expect((await service.call({ path: PROFILE, key: service.ben })).status).toBe(404);
  });

  it('of a sandbox open that sandbox alone, until it is released', async () => {
    const service = await openService();
    await service.call({
      method: 'POST',
      path: '/api/v1/secrets',
      body: { name: 'TOKEN', value: 'the-value' },
    });
    const { id, sandboxId } = await startReady(service);
    const [row] = (await service.call({ path: `${APP}?ids=${id}` })).body;
    const headers = { 'x-session-api-key': row.session_api_key as string };
    const path = `/api/v1/sandboxes/${sandboxId}/settings/secrets`;
    expect((await service.call({ path, key: null, headers })).body.secrets).toEqual([
      { name: 'TOKEN', description: null },
    ]);
    expect((await service.call({ path: `${path}/TOKEN`, key: null, headers })).text).toBe('the-value');
    expect((await service.call({ path })).status).toBe(401);
    const other = await startReady(service);
    const otherPath = `/api/v1/sandboxes/${other.sandboxId}/settings/secrets`;
    expect((await service.call({ path: otherPath, key: null, headers })).status).toBe(401);
    await service.call({ method: 'POST', path: `/api/v1/sandboxes/${sandboxId}/pause` });
    await eventually(
      async () => (await service.call({ path: `/api/v1/sandboxes?id=${sandboxId}` })).body[0],
      (one) => one.status === 'PAUSED',
    );
    expect((await service.call({ path, key: null, headers })).status).toBe(401);
  });
});

describe('around every route', () => {
  it('floods with a wrong key are told to wait, and holders of a key at the same address are not', async () => {
    const service = await openService();
    const statuses = new Set<number>();
    for (let time = 0; time < 60; time += 1)
      statuses.add((await service.call({ path: `${APP}/search`, key: 'pa-guess' })).status);
    expect([...statuses].sort()).toEqual([401, 429]);
    expect((await service.call({ path: `${APP}/search` })).status).toBe(200);
  });

  it('a key that asks too often is told when to ask again', async () => {
    const rateLimits = {
      perKey: { burst: 2, perSecond: 0.1 },
      refusals: { burst: 5, perSecond: 1 },
    };
    const service = await openService({ rateLimits });
    const answers = [];
    for (let time = 0; time < 3; time += 1) answers.push(await service.call({ path: `${APP}/search` }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.body.code).toBe('rate_limited');
    expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await service.call({ path: `${APP}/search`, key: service.ben })).status).toBe(200);
  });

  it('has headers that keep browsers out, lets in named origins only, and bounds bodies', async () => {
    const service = await openService({ corsOrigins: ['https://console.example'] });
    const closed = await service.call({ path: '/health', headers: { origin: 'https://evil.example' } });
    expect(closed.headers.get('access-control-allow-origin')).toBeNull();
    expect(closed.headers.get('x-content-type-options')).toBe('nosniff');
    expect(closed.headers.get('content-security-policy')).toContain("default-src 'none'");
    const named = await service.call({ path: '/health', headers: { origin: 'https://console.example' } });
    expect(named.headers.get('access-control-allow-origin')).toBe('https://console.example');
    const large = await service.call({ method: 'POST', path: APP, body: `"${'x'.repeat(7 * 1024 * 1024)}"` });
    expect([large.status, large.body.code]).toEqual([413, 'request_too_large']);
    const broken = await service.call({ method: 'POST', path: APP, body: '{' });
    expect([broken.status, broken.body.code]).toEqual([422, 'invalid_request']);
    const unknown = await service.call({ path: '/api/v1/nothing' });
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Not Found', code: 'not_found' }]);
  });

  it('every change is in the audit log with who, what and how it ended', async () => {
    const service = await openService();
    const { id } = await startReady(service);
    await service.call({ method: 'DELETE', path: `${APP}/${id}`, key: service.ben });
    await service.call({ method: 'DELETE', path: `${APP}/${id}` });
    const { body } = await service.call({ path: '/api/v1/audit/search' });
    expect(
      body.items.map((one: Record<string, unknown>) => [
        one['user_id'],
        one['action'],
        one['about'],
        one['status'],
      ]),
    ).toEqual([
      ['ada', 'delete_app_conversation', id, 200],
      ['ben', 'delete_app_conversation', id, 404],
      ['ada', 'start_app_conversation', '', 200],
    ]);
  });

  it('settings and stored secrets have bounds, and names are taken once', async () => {
    const service = await openService();
    const post = (path: string, body: object) => service.call({ method: 'POST', path, body });
    for (let index = 0; index < 50; index += 1) await post(`/api/v1/settings/profiles/p${index}`, {});
    const full = await post('/api/v1/settings/profiles/one-more', {});
    expect([full.status, full.body.code]).toEqual([409, 'count_limit_reached']);
    const taken = await post('/api/v1/settings/profiles/p1/rename', { new_name: 'p2' });
    expect([taken.status, taken.body.code]).toEqual([409, 'name_taken']);
    expect((await post('/api/v1/settings', { conversation_settings: {} })).status).toBe(422);
  });
});
