/** The operations on conversations, events and workspaces, over the real service. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fromBuffer, type Entry } from 'yauzl';
import { describe, expect, it } from 'vitest';
import { eventually, openService, startReady, type Service } from '../../api/service.ts';
import { spendRow } from '../../contract/store-rows.ts';

const APP = '/api/v1/app-conversations';
const message = (text: string) => ({ content: [{ type: 'text', text }] });
const record = async (service: Service, id: string) =>
  (await service.call({ path: `${APP}?ids=${id}` })).body[0];

/** READY, with its first message taken. */
async function working(service: Service): Promise<{ readonly id: string; readonly dir: string }> {
  const { id } = await startReady(service, { initial_message: message('first') });
  await eventually(
    () => record(service, id),
    (row) => row.execution_status === 'FINISHED',
  );
  return { id, dir: path.join(service.workspaceDir, id) };
}

describe('records', () => {
  it('C64: by id, null for missing and foreign ones alike', async () => {
    const service = await openService();
    const { id } = await startReady(service);
    const path_ = `${APP}?ids=${id}&ids=${'0'.repeat(32)}`;
    expect((await service.call({ path: path_ })).body.map((one: unknown) => one !== null)).toEqual([
      true,
      false,
    ]);
    expect((await service.call({ path: path_, key: service.ben })).body).toEqual([null, null]);
    expect((await service.call({ path: `${APP}?ids=nonsense` })).status).toBe(422);
    expect((await service.call({ path: APP })).body.detail[0]).toMatchObject({ loc: ['query', 'ids'] });
  });

  it('C23, C36: carry what the calls came to, beside both statuses', async () => {
    const service = await openService();
    const { id } = await startReady(service);
    await service.store.spend.write([
      spendRow('a', { sessionId: id, promptTokens: 10, completionTokens: 5 }),
      spendRow('b', { sessionId: id, promptTokens: 20, completionTokens: 5 }),
    ]);
    const row = await record(service, id);
    expect(row.metrics).toMatchObject({
      model_name: 'small',
      accumulated_cost: 246 / 1e9,
      accumulated_token_usage: { prompt_tokens: 30, completion_tokens: 10 },
    });
    expect([row.sandbox_status, row.execution_status]).toEqual(['RUNNING', 'IDLE']);
  });

  it('C65: are found by title, time, sandbox, status and tags, page by page', async () => {
    const service = await openService();
    const ids: string[] = [];
    let sandboxId: string | undefined;
    for (const [title, team] of [
      ['Alpha', 'blue'],
      ['beta', 'blue'],
      ['alphabet', 'red'],
    ]) {
      const placed = sandboxId === undefined ? {} : { sandbox_id: sandboxId };
      const started = await startReady(service, { title, tags: { team }, ...placed });
      sandboxId ??= started.sandboxId;
      ids.push(started.id);
    }
    const found = async (query: string) =>
      (await service.call({ path: `${APP}/search?${query}` })).body.items.map((row: { id: string }) =>
        ids.indexOf(row.id),
      );
    expect(await found('')).toEqual([2, 1, 0]);
    expect(await found('title__contains=ALPHA&sort_order=CREATED_AT')).toEqual([0, 2]);
    expect(await found('tag=team%3Dblue')).toEqual([1, 0]);
    expect(await found('tag=team%3Dblue&title__contains=beta')).toEqual([1]);
    expect(await found(`sandbox_id__eq=${sandboxId}&sandbox_status__eq=running`)).toEqual([2, 1, 0]);
    expect(await found('execution_status__eq=finished')).toEqual([]);
    expect(await found('created_at__gte=2100-01-01')).toEqual([]);
    expect((await service.call({ path: `${APP}/count?tag=team%3Dblue` })).body).toBe(2);
    expect((await service.call({ path: `${APP}/count`, key: service.ben })).body).toBe(0);
    const pages: number[] = [];
    for (let page = ''; ;) {
      const { body } = await service.call({ path: `${APP}/search?limit=1&sort_order=TITLE${page}` });
      pages.push(...body.items.map((row: { id: string }) => ids.indexOf(row.id)));
      if (body.next_page_id === null) break;
      page = `&page_id=${encodeURIComponent(body.next_page_id)}`;
    }
    expect(pages).toEqual([0, 2, 1]);
  });

  it('C24, C68, C94, C95: tags are replaced when they are there, and bad keys and values are refused', async () => {
    const service = await openService();
    const { id } = await startReady(service, { tags: { team: 'blue', old: 'x' } });
    const patch = (body: object) => service.call({ method: 'PATCH', path: `${APP}/${id}`, body });
    expect((await patch({ tags: { team: 'red' } })).body.tags).toEqual({ team: 'red' });
    const titled = await patch({ title: 'New' });
    expect(titled.body).toMatchObject({ title: 'New', tags: { team: 'red' } });
    expect((await patch({ tags: { wide: '\u{1F600}'.repeat(256) } })).status).toBe(200);
    for (const tags of [{ under_score: 'x' }, { Upper: 'x' }, { long: 'x'.repeat(257) }, { number: 1 }]) {
      const refused = await patch({ tags });
      expect([refused.status, refused.body.code]).toEqual([422, 'invalid_request']);
    }
    expect((await service.call({ method: 'PATCH', path: `${APP}/${'0'.repeat(32)}`, body: {} })).status).toBe(
      404,
    );
  });

  it('C70, C85: a deletion removes record and transcript, and the sandbox that placement made', async () => {
    const service = await openService();
    const { id } = await working(service);
    const { sandbox_id: sandboxId } = await record(service, id);
    const foreign = { method: 'DELETE', path: `${APP}/${id}`, key: service.ben };
    expect((await service.call(foreign)).status).toBe(404);
    expect((await service.call({ method: 'DELETE', path: `${APP}/${id}` })).body).toEqual({ success: true });
    await eventually(
      () => record(service, id),
      (row) => row === null,
    );
    expect((await service.call({ path: `/api/v1/conversation/${id}/events/search` })).body.items).toEqual([]);
    await eventually(
      async () => (await service.call({ path: `/api/v1/sandboxes?id=${sandboxId}` })).body[0],
      (row) => row.status === 'MISSING',
    );
    const { body: kept } = await service.call({ method: 'POST', path: '/api/v1/sandboxes' });
    const guest = await startReady(service, { sandbox_id: kept.id });
    await service.call({ method: 'DELETE', path: `${APP}/${guest.id}` });
    await eventually(
      () => record(service, guest.id),
      (row) => row === null,
    );
    expect((await service.call({ path: `/api/v1/sandboxes?id=${kept.id}` })).body[0].status).toBe('RUNNING');
  });
});

describe('messages and events', () => {
  it('C66: a message is delivered once by its id, and refused without content', async () => {
    const service = await openService();
    const { id } = await working(service);
    const send = (body: object) =>
      service.call({
        method: 'POST',
        path: `${APP}/${id}/send-message`,
        body,
        headers: { 'idempotency-key': 'm' },
      });
    for (let time = 0; time < 3; time += 1)
      expect((await send(message('second'))).body).toMatchObject({ success: true, message: null });
    await eventually(
      () => Promise.resolve(service.agent.messages.length),
      (count) => count >= 2,
    );
    expect(service.agent.messages.map(({ text }) => text)).toEqual(['first', 'second']);
    expect((await send({ content: [] })).status).toBe(422);
  });

  it('C67, C87: events come by kind and time, in either order, with a cursor that stays', async () => {
    const service = await openService();
    const { id } = await working(service);
    const base = `/api/v1/conversation/${id}/events`;
    const all = (await service.call({ path: `${base}/search` })).body.items;
    expect(all.map((event: { kind: string }) => event.kind)).toEqual(['MessageEvent', 'ActionEvent']);
    const first = (await service.call({ path: `${base}/search?limit=1` })).body;
    const second = (await service.call({ path: `${base}/search?limit=1&page_id=${first.next_page_id}` }))
      .body;
    expect([first.items[0], second.items[0], second.next_page_id]).toEqual([all[0], all[1], null]);
    const newest = (await service.call({ path: `${base}/search?sort_order=TIMESTAMP_DESC&limit=1` })).body;
    expect(newest.items[0].id).toBe(all[1].id);
    expect((await service.call({ path: `${base}/count?kind__eq=ActionEvent` })).body).toBe(1);
    expect((await service.call({ path: `${base}/count?timestamp__lt=${all[0].timestamp}` })).body).toBe(0);
    expect((await service.call({ path: `${base}?id=${all[0].id}&id=nothing` })).body).toEqual([all[0], null]);
    expect((await service.call({ path: `${base}/search`, key: service.ben })).body.items).toEqual([]);
  });

  it('C69: the trajectory is a zip of the record and every event, without a key', async () => {
    const service = await openService();
    const { id } = await working(service);
    const response = await fetch(`${service.server.url}${APP}/${id}/download`, {
      headers: { authorization: `Bearer ${service.ada}` },
    });
    expect(response.headers.get('content-disposition')).toContain(`conversation_${id}.zip`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const names = await new Promise<string[]>((resolve, reject) =>
      fromBuffer(bytes, (error, zip) => {
        if (error !== null) return reject(error);
        const found: string[] = [];
        zip.on('entry', (entry: Entry) => found.push(entry.fileName));
        zip.on('end', () => resolve(found));
      }),
    );
    expect(names[0]).toBe('meta.json');
    expect(names.slice(1).map((name) => name.slice(0, 12))).toEqual(['event_000001', 'event_000002']);
    const { session_api_key: key } = await record(service, id);
    expect(bytes.includes(key)).toBe(false);
  });
});

describe('workspaces', () => {
  it('C71: a file is read as text, and no path leads out', async () => {
    const service = await openService();
    const { id, dir } = await working(service);
    writeFileSync(path.join(dir, 'notes.txt'), 'héllo');
    writeFileSync(path.join(dir, 'binary'), Buffer.from([0xff, 0xfe]));
    writeFileSync(path.join(service.folder, 'outside.txt'), 'secret');
    symlinkSync(path.join(service.folder, 'outside.txt'), path.join(dir, 'link'));
    const read = (file: string) =>
      service.call({ path: `${APP}/${id}/file?file_path=${encodeURIComponent(file)}` });
    for (const file of ['notes.txt', './notes.txt', `${dir}/notes.txt`, '/workspace/project/notes.txt'])
      expect((await read(file)).body).toBe('héllo');
    for (const file of [
      '../../outside.txt',
      '/etc/passwd',
      `${dir}/../../outside.txt`,
      'link',
      'binary',
      '.',
    ])
      expect((await read(file)).status).toBe(422);
    expect((await read('missing.txt')).status).toBe(404);
    expect((await service.call({ path: `${APP}/${id}/files` })).body).toEqual(['binary', 'notes.txt']);
    const foreign = { path: `${APP}/${id}/file?file_path=notes.txt`, key: service.ben };
    expect((await service.call(foreign)).status).toBe(404);
  });

  it('C72, C73: Git changes and the two sides of a file come from where the agent works', async () => {
    const service = await openService();
    const { id, dir } = await working(service);
    service.agent.changes = [{ status: 'ADDED', path: 'a.txt' }];
    service.agent.diff = { modified: 'new', original: null };
    expect((await service.call({ path: `${APP}/${id}/git/changes` })).body).toEqual(service.agent.changes);
    const diff = await service.call({ path: `${APP}/${id}/git/diff?path=a.txt` });
    expect(diff.body).toEqual({ modified: 'new', original: null });
    const asked = service.agent.calls.filter(({ name }) => name.startsWith('git')).map(({ about }) => about);
    // Against the commit where the work began.
    const ref = expect.stringMatching(/^[0-9a-f]{40}$/) as string;
    expect(asked).toEqual([
      { path: dir, ref },
      { path: `${dir}/a.txt`, ref },
    ]);
    expect((await service.call({ path: `${APP}/${id}/git/changes?path=/etc` })).status).toBe(422);
  });

  it('C74, C75: skills and hooks are those that the workspace brings', async () => {
    const service = await openService();
    const { id, dir } = await working(service);
    mkdirSync(path.join(dir, '.openhands', 'skills', 'deploy'), { recursive: true });
    writeFileSync(path.join(dir, 'AGENTS.md'), 'Be brief.');
    writeFileSync(
      path.join(dir, '.openhands', 'skills', 'test.md'),
      '---\nname: testing\ntriggers:\n  - test\n---\nRun them.',
    );
    writeFileSync(path.join(dir, '.openhands', 'skills', 'deploy', 'SKILL.md'), 'Deploy.');
    const hooks = { stop: [{ hooks: [{ command: 'npm test' }] }], pre_tool_use: [] };
    writeFileSync(path.join(dir, '.openhands', 'hooks.json'), JSON.stringify(hooks));
    const { skills } = (await service.call({ path: `${APP}/${id}/skills` })).body;
    expect(skills.map((one: { name: string; type: string }) => [one.name, one.type])).toEqual([
      ['AGENTS', 'repo'],
      ['testing', 'knowledge'],
      ['deploy', 'agentskills'],
    ]);
    expect((await service.call({ path: `${APP}/${id}/hooks` })).body.hooks).toEqual([
      {
        event_type: 'stop',
        matchers: [
          { matcher: '*', hooks: [{ type: 'command', command: 'npm test', timeout: 60, async: false }] },
        ],
      },
    ]);
  });

  it('a read of a released workspace brings it back and then answers', async () => {
    const service = await openService();
    const { id, dir } = await working(service);
    writeFileSync(path.join(dir, 'notes.txt'), 'kept');
    const { sandbox_id: sandboxId } = await record(service, id);
    await service.call({ method: 'POST', path: `/api/v1/sandboxes/${sandboxId}/pause` });
    await eventually(
      () => record(service, id),
      (row) => row.sandbox_status === 'PAUSED' && row.transition === null,
    );
    expect((await service.call({ path: `${APP}/${id}/file?file_path=notes.txt` })).body).toBe('kept');
    expect((await record(service, id)).sandbox_status).toBe('RUNNING');
  });
});

describe('sandboxes', () => {
  it('C76, C77, C78: are created at once, found newest first, and gotten by id', async () => {
    const service = await openService();
    const create = (headers = {}) => service.call({ method: 'POST', path: '/api/v1/sandboxes', headers });
    const { body: first } = await create({ 'idempotency-key': 's-1' });
    expect(first).toMatchObject({ status: 'STARTING', sandbox_status: 'STARTING', session_api_key: null });
    expect((await create({ 'idempotency-key': 's-1' })).body.id).toBe(first.id);
    const { body: second } = await create();
    const found = await service.call({ path: '/api/v1/sandboxes/search' });
    expect(found.body.items.map((one: { id: string }) => one.id)).toEqual([second.id, first.id]);
    const got = await service.call({ path: `/api/v1/sandboxes?id=${first.id}&id=${'0'.repeat(32)}` });
    expect(got.body.map((one: { id: string } | null) => one?.id ?? null)).toEqual([first.id, null]);
    expect((await service.call({ path: `/api/v1/sandboxes?id=${first.id}`, key: service.ben })).body).toEqual(
      [null],
    );
  });
});
