/** Keys, errors, files, single commands, idle time and addresses of the server itself. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { AddressInUseError } from '../../agent/serve/listen.ts';
import { startAgentServer } from '../../agent/serve/server.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { Harness, userMessage } from './harness.ts';

function multipart(content: Buffer): { readonly raw: Buffer; readonly headers: Record<string, string> } {
  const head = '--frontier\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
  return {
    raw: Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--frontier--\r\n')]),
    headers: { 'content-type': 'multipart/form-data; boundary=frontier' },
  };
}

describe('the server', () => {
  it('asks for its key everywhere but for health', async () => {
    const harness = await Harness.start();
    const without = { headers: { 'x-session-api-key': 'wrong' } };
    for (const path of ['/alive', '/health', '/ready', '/server_info']) {
      expect((await harness.call(`GET ${path}`, without)).status).toBe(200);
    }
    for (const route of [
      'GET /api/conversations/count',
      'POST /api/bash/execute_bash_command',
      'GET /api/nothing',
    ]) {
      const refused = await harness.call(route, without);
      expect([refused.status, refused.body]).toEqual([401, { detail: 'Unauthorized' }]);
    }
  });

  it('answers errors in the shapes of the reference', async () => {
    const harness = await Harness.start();
    expect((await harness.call('GET /api/nothing')).body).toEqual({ detail: 'Not Found' });
    expect(await harness.at('GET ')).toMatchObject({ status: 404 });
    expect((await harness.call('GET /api/conversations/no-uuid')).status).toBe(422);
    const missing = await harness.call('POST /api/conversations', { json: {} });
    expect(missing.status).toBe(422);
    expect(missing.body['detail']).toMatchObject([
      { loc: ['body', 'agent'] },
      { loc: ['body', 'workspace'] },
    ]);
    const broken = await harness.call('POST /api/conversations', {
      raw: Buffer.from('{'),
      headers: { 'content-type': 'application/json' },
    });
    expect(broken).toMatchObject({ status: 422, body: { detail: [{ type: 'json_invalid' }] } });
    const large = await harness
      .call('POST /api/conversations', { json: { x: 'x'.repeat(17 * 1024 * 1024) } })
      .catch(() => null);
    // The server may close the connection before the whole body is sent.
    if (large !== null) expect(large.status).toBe(413);
    expect((await harness.call('GET /api/conversations/search?limit=101')).status).toBe(422);
  });

  it('runs commands in fresh shells, with a timeout', async () => {
    const harness = await Harness.start();
    const bash = async (json: unknown): Promise<unknown> =>
      (await harness.call('POST /api/bash/execute_bash_command', { json })).body;
    expect(await bash({ command: 'A=1; pwd; echo err >&2; exit 3' })).toMatchObject({
      exit_code: 3,
      stdout: `${harness.workspace}\n`,
      stderr: 'err\n',
      kind: 'BashOutput',
    });
    expect(await bash({ command: 'echo "[$A][$0]"', cwd: '/' })).toMatchObject({ stdout: '[][bash]\n' });
    expect(await bash({ command: 'sleep 30', timeout: 0.2 })).toMatchObject({ exit_code: -1, stdout: null });
    expect(await bash({ command: 'sleep 30 & echo started' })).toMatchObject({
      exit_code: 0,
      stdout: 'started\n',
    });
    expect(await bash({ command: 'true', cwd: '/no/such/place' })).toHaveProperty('detail');
  });

  it('takes and gives files byte for byte', async () => {
    const harness = await Harness.start();
    const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 256));
    const path = join(harness.workspace, 'deep/er/\u00fc file.bin');
    const query = `path=${encodeURIComponent(path)}`;
    const sent = await harness.call(`POST /api/file/upload?${query}`, multipart(content));
    expect(sent.body).toEqual({ success: true, file_size: content.length });
    expect(readFileSync(path)).toEqual(content);
    expect((await harness.call(`GET /api/file/download?${query}`)).bytes).toEqual(content);
    expect((await harness.call('GET /api/file/download?path=/no/such/file')).status).toBe(404);
    expect((await harness.call(`GET /api/file/download?path=${harness.workspace}`)).status).toBe(400);
    const relative = await harness.call('POST /api/file/upload?path=x', multipart(content));
    expect(relative).toMatchObject({ status: 400, body: { detail: 'Path must be absolute' } });
  });

  it('counts work as activity, and reading not (D9)', async () => {
    let nowMs = 1_000_000;
    const folder = tempDir();
    const harness = await Harness.start();
    const server = await startAgentServer(
      {
        listen: { kind: 'tcp', host: '127.0.0.1', port: 0 },
        sessionKey: null,
        conversationsDir: join(folder, 'c'),
        workspaceDir: folder,
        pluginsDir: join(folder, 'p'),
        webhook: null,
      },
      { world: { nowMs: () => nowMs, uuid: () => crypto.randomUUID(), sleep: () => Promise.resolve() } },
    );
    const call = async (path: string, json?: unknown): Promise<Record<string, unknown>> => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(json),
      };
      const answer = await fetch(`${server.address}${path}`, json === undefined ? {} : init);
      return (await answer.json()) as Record<string, unknown>;
    };
    const { id } = await call('/api/conversations', harness.startBody());
    const idle = async (): Promise<unknown> => {
      nowMs += 60_000;
      return (await call('/server_info'))['idle_time'];
    };
    expect(await idle()).toBe(60);
    await call(`/api/conversations/${String(id)}/events/search`);
    await call(`/api/conversations/${String(id)}`);
    expect(await idle()).toBe(120);
    await call(`/api/conversations/${String(id)}/events`, userMessage('hi', false));
    expect(await idle()).toBe(60);
    await call('/api/bash/execute_bash_command', { command: 'true' });
    expect(await idle()).toBe(60);
    await call(`/api/git/changes?path=${folder}`);
    expect(await idle()).toBe(60);
    await server.stop();
  });

  it('replaces a stale socket and refuses a live one', async () => {
    const harness = await Harness.start();
    await expect(harness.startServer()).rejects.toThrow(AddressInUseError);
    const file = join(harness.folder, 'plain');
    writeFileSync(file, 'not a socket');
    await expect(harness.startServer()).rejects.toThrow('another server answers');
    expect(existsSync(harness.socketPath)).toBe(true);
  });
});
