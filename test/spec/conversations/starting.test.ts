/** Starting conversations over the real service: start tasks, the fields of a request, secrets, repeats. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { START_TASK_STATUSES } from '../../../core/status.ts';
import { hyphenatedUuid } from '../../../core/ids.ts';
import { eventually, openService, startReady, type Service } from '../../api/service.ts';

const APP = '/api/v1/app-conversations';
const TEXT = (text: string) => ({ content: [{ type: 'text', text }] });

async function record(service: Service, id: string) {
  return (await service.call({ path: `${APP}?ids=${id}` })).body[0];
}

describe('a start', () => {
  it('C62, C63, C82: answers with a start task at once, whose statuses come in order until READY', async () => {
    const service = await openService();
    const started = await service.call({ method: 'POST', path: APP });
    expect(started.status).toBe(200);
    expect(started.body).toMatchObject({ status: 'WORKING', app_conversation_id: null, sandbox_id: null });
    const { taskId, id, sandboxId } = await startReady(service, { title: 'second' });
    const { body } = await service.call({ path: `${APP}/start-tasks?ids=${taskId}&ids=${'0'.repeat(32)}` });
    expect(body).toEqual([
      expect.objectContaining({
        id: taskId,
        status: 'READY',
        app_conversation_id: id,
        sandbox_id: sandboxId,
      }),
      null,
    ]);
    const { text } = await service.call({ method: 'POST', path: `${APP}/stream-start`, body: {} });
    const shown = (JSON.parse(text) as { readonly status: (typeof START_TASK_STATUSES)[number] }[]).map(
      ({ status }) => START_TASK_STATUSES.indexOf(status),
    );
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
    expect(START_TASK_STATUSES[shown.at(-1) ?? 0]).toBe('READY');
    const found = await service.call({ path: `${APP}/start-tasks/search?conversation_id__eq=${id}` });
    expect(found.body.items.map((task: { id: string }) => task.id)).toEqual([taskId]);
    expect((await service.call({ path: `${APP}/start-tasks/count` })).body).toBe(3);
  });

  it('C1, C2, C3, C5, C17, C18, C19, C20: ends in a record of conversation, sandbox and both statuses', async () => {
    const service = await openService();
    const { id, sandboxId } = await startReady(service, { initial_message: TEXT('do it') });
    const ready = await eventually(
      () => record(service, id),
      (row) => row.execution_status === 'FINISHED',
    );
    expect(ready).toMatchObject({
      id,
      app_conversation_id: id,
      sandbox_id: sandboxId,
      sandbox_status: 'RUNNING',
      execution_status: 'FINISHED',
      created_by_user_id: 'ada',
      metrics: null,
    });
    expect(service.agent.messages.map(({ text }) => text)).toEqual(['do it']);
    expect((await service.call({ path: `${APP}?ids=${hyphenatedUuid(id)}` })).body[0].id).toBe(id);
  });

  it('C25: takes a message of text blocks, and starts the agent on it unless `run` is false', async () => {
    const service = await openService();
    const message = { role: 'user', run: false, content: [{ type: 'text', text: 'later' }] };
    const { id } = await startReady(service, { initial_message: message });
    await eventually(
      () => Promise.resolve(service.agent.messages.length),
      (count) => count === 1,
    );
    expect((await record(service, id)).execution_status).toBe('IDLE');
    const image = { content: [{ type: 'image', image_urls: ['x'] }] };
    const refused = await service.call({ method: 'POST', path: APP, body: { initial_message: image } });
    expect([refused.status, refused.body.detail[0].loc.slice(0, 3)]).toEqual([
      422,
      ['body', 'initial_message', 'content'],
    ]);
  });

  it('C21, C22, C26, C27, C35: clones repository and branch; the author of commits is set apart from any token', async () => {
    const service = await openService();
    const remote = path.join(service.folder, 'remotes', 'acme', 'web');
    mkdirSync(remote, { recursive: true });
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.invalid', ...args], {
        cwd: remote,
        encoding: 'utf8',
      });
    git('init', '-q', '-b', 'main');
    writeFileSync(path.join(remote, 'a.txt'), 'a');
    git('add', '.');
    git('commit', '-q', '-m', 'a');
    git('branch', 'side');
    await service.call({
      method: 'POST',
      path: '/api/v1/settings',
      body: { git_user_name: 'Ada', git_user_email: 'ada@example.invalid' },
    });
    const { id } = await startReady(service, { selected_repository: 'acme/web', selected_branch: 'side' });
    expect(await record(service, id)).toMatchObject({
      selected_repository: 'acme/web',
      selected_branch: 'side',
    });
    const clone = path.join(service.workspaceDir, id, 'web');
    const inClone = (...args: string[]): string =>
      execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();
    expect([inClone('branch', '--show-current'), inClone('config', 'user.name')]).toEqual(['side', 'Ada']);
    const missing = await service.call({
      method: 'POST',
      path: APP,
      body: { selected_repository: 'acme/no' },
    });
    const [task] = await eventually(
      async () => (await service.call({ path: `${APP}/start-tasks?ids=${missing.body.id}` })).body,
      ([one]) => one.status === 'ERROR',
    );
    expect(task.detail).toContain('repository_failed');
    for (const body of [{ selected_repository: 'web; rm -rf /' }, { selected_branch: '../x' }])
      expect((await service.call({ method: 'POST', path: APP, body })).status).toBe(422);
  });

  it('C30, C31, C32, C96: takes span name, tags and metadata of its trace, and refuses values of mixed kinds', async () => {
    const service = await openService();
    const fields = {
      observability_span_name: 'nightly',
      observability_tags: ['team:blue'],
      observability_metadata: { attempt: 1, ratios: [1, 0.5], dry: true, names: ['a'] },
    };
    const { id } = await startReady(service, fields);
    const stored = await service.store.engine.load({ machine: 'conversation', id });
    expect(stored?.state).toMatchObject({
      spec: {
        observability: {
          spanName: 'nightly',
          tags: ['team:blue'],
          metadata: fields.observability_metadata,
        },
      },
    });
    for (const value of [['a', 1], { deep: true }, null]) {
      const body = { observability_metadata: { value } };
      expect((await service.call({ method: 'POST', path: APP, body })).status).toBe(422);
    }
  });
});

describe('secrets', () => {
  it('C29, C33: are with the agent before its first action, and win over stored ones of the same name', async () => {
    const service = await openService();
    for (const [name, value] of [
      ['TOKEN', 'stored-one'],
      ['OTHER', 'stored-two'],
    ])
      await service.call({ method: 'POST', path: '/api/v1/secrets', body: { name, value } });
    const { taskId } = await startReady(service, { secrets: { TOKEN: 'given-one' } });
    expect(service.agent.opened?.secrets).toEqual({ TOKEN: 'given-one', OTHER: 'stored-two' });
    const shown = await service.call({ path: `${APP}/start-tasks?ids=${taskId}` });
    expect(shown.body[0].request.secrets).toEqual({ TOKEN: '**********' });
    await startReady(service, {});
    expect(service.agent.opened?.secrets.TOKEN).toBe('stored-one');
    const listed = await service.call({ path: '/api/v1/secrets/search' });
    expect(listed.text).not.toContain('stored-one');
  });

  it.each([
    ['a reserved name', { LLM_API_KEY: 'value-1' }, 'secret_reserved'],
    ['no name of a variable', { 'not a name': 'value-1' }, 'secret_reserved'],
    ['too large a value', { BIG: 'x'.repeat(65_537) }, 'invalid_request'],
  ])('are refused with %s', async (_why, secrets, code) => {
    const service = await openService();
    const answer = await service.call({ method: 'POST', path: APP, body: { secrets } });
    expect([answer.status, answer.body.code]).toEqual([422, code]);
    expect((await service.call({ path: `${APP}/start-tasks/count` })).body).toBe(0);
  });

  it('C34: must not stand in the message, as they are or encoded', async () => {
    const service = await openService();
    const value = 'sk-very-secret';
    for (const text of [`use ${value}`, `use ${Buffer.from(value).toString('base64')}`]) {
      const body = { secrets: { TOKEN: value }, initial_message: TEXT(text) };
      const answer = await service.call({ method: 'POST', path: APP, body });
      expect([answer.status, answer.body.code]).toEqual([422, 'secret_in_message']);
      expect(answer.text).not.toContain(value);
    }
  });
});

describe('a repeated start', () => {
  it('is the same task under one idempotency key or conversation id, and refused for another request', async () => {
    const service = await openService();
    const start = (body: object, key?: string) =>
      service.call({
        method: 'POST',
        path: APP,
        body,
        headers: key === undefined ? {} : { 'idempotency-key': key },
      });
    const first = await start({ title: 'a' }, 'k-1');
    expect((await start({ title: 'a' }, 'k-1')).body.id).toBe(first.body.id);
    const other = await start({ title: 'b' }, 'k-1');
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
    const chosen = { conversation_id: 'ab'.repeat(16), title: 'mine' };
    const second = await start(chosen);
    expect((await start(chosen)).body.id).toBe(second.body.id);
    const foreign = await service.call({ method: 'POST', path: APP, body: chosen, key: service.ben });
    expect(foreign.status).toBe(409);
    expect((await service.call({ path: `${APP}/start-tasks/count` })).body).toBe(2);
  });

  it('is refused with limit and current when no slot is free, and accepts nothing', async () => {
    const capacity = { installationMax: 5, userMax: 1, conversationsPerSandboxMax: 20 };
    const service = await openService({ deployment: { capacity } });
    await startReady(service);
    const answer = await service.call({ method: 'POST', path: APP, body: {} });
    expect(answer.status).toBe(429);
    expect(answer.body).toMatchObject({ code: 'concurrency_limit_reached', limit: 1, current: 1 });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect((await service.call({ path: `${APP}/start-tasks/count` })).body).toBe(1);
  });
});
