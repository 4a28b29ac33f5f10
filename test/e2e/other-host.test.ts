/**
 * A workspace on another machine than the API that is asked: through the worker of its host where that has a relay, and a
 * refusal that says what to set where it has none.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Body, Caller } from '../../bench/cluster/caller.ts';
import { describeWith } from '../helpers/requires.ts';
import type { RunningProgram } from './running-program.ts';
import { openTwoHosts, type HostName, type TwoHosts } from './two-hosts.ts';

const ALL_MS_MAX = 600_000;
const APP = '/api/v1/app-conversations';
const LARGE_BYTES = 12 * 1024 * 1024;

describeWith('temporal', 'a workspace of another host', () => {
  describeWith('postgres', 'with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      let hosts: TwoHosts;
      let url: string;
      let caller: Caller;
      const programs: RunningProgram[] = [];

      beforeAll(async () => {
        hosts = await openTwoHosts();
        for (const name of ['alpha', 'beta'] as const) programs.push(await hosts.startWorker(name));
        const served = await hosts.serve();
        programs.push(served.program);
        ({ url, caller } = served);
      }, ALL_MS_MAX);
      afterAll(async () => {
        await Promise.all(
          programs.map(({ pid, ended }) => {
            process.kill(pid, 'SIGTERM');
            return ended;
          }),
        );
        await hosts?.close();
      }, ALL_MS_MAX);

      /** The record of a conversation whose agent has written its text. */
      const written = async (host: HostName): Promise<Body> => {
        const text = 'Write a riddle about rivers into text.md.';
        const body = { host, initial_message: { content: [{ type: 'text', text }] } };
        const { body: task } = await caller.call({ method: 'POST', path: APP, body, key: `on-${host}` });
        const poll = { timeout: 180_000, interval: 200 };
        await expect
          .poll(async () => (await caller.get(`${APP}/start-tasks?ids=${task.id}`))[0]?.status, poll)
          .toBe('READY');
        const [{ app_conversation_id: id }] = await caller.get(`${APP}/start-tasks?ids=${task.id}`);
        const record = async (): Promise<Body> => (await caller.get(`${APP}?ids=${id}`))[0];
        await expect.poll(async () => (await record()).execution_status, poll).toBe('FINISHED');
        return await record();
      };
      /** What the service answers for a route of the workspace. */
      const read = async (id: string, route: string): Promise<Response> => {
        const headers = { authorization: `Bearer ${hosts.apiKey}` };
        return await fetch(`${url}${APP}/${id}/${route}`, { headers });
      };

      it(
        'is read and written through the worker of its host',
        async () => {
          const record = await written('beta');
          const { id, sandbox_id: sandboxId, session_api_key: key } = record;
          expect(hosts.sandboxesOn('beta')).toContain(sandboxId);
          const file = await read(id, 'file?file_path=text.md');
          expect([file.status, await file.json()]).toEqual([
            200,
            'There is a place where it always begins.\n',
          ]);
          expect(await (await read(id, 'files')).json()).toContain('text.md');
          expect((await read(id, 'git/changes')).status).toBe(200);
          expect((await read(id, 'skills')).status).toBe(200);
          expect((await read(id, 'hooks')).status).toBe(200);

          const agent = `${url}/sandboxes/${sandboxId}/agent`;
          const headers = { 'x-session-api-key': key as string, 'content-type': 'application/json' };
          const [dir = ''] = hosts.filesNamed('beta', 'text.md').map((name) => path.dirname(name));
          const command = `head -c ${LARGE_BYTES} /dev/urandom > large.bin; head -c 17000000 /dev/zero > larger.bin`;
          const said = await fetch(`${agent}/api/bash/execute_bash_command`, {
            ...{ method: 'POST', headers },
            body: JSON.stringify({ command, cwd: dir, timeout: 30 }),
          });
          expect(await said.json()).toMatchObject({ exit_code: 0 });
          const large = Buffer.from(
            await (await read(id, 'file/download?file_path=large.bin')).arrayBuffer(),
          );
          expect(large.length).toBe(LARGE_BYTES);
          expect(hashOf(large)).toBe(hashOf(readFileSync(path.join(dir, 'large.bin'))));
          const larger = await read(id, 'file/download?file_path=larger.bin');
          expect([larger.status, await larger.text()]).toEqual([
            422,
            expect.stringContaining('more than 16777216 bytes'),
          ]);

          const socket = new WebSocket(
            `${agent.replace('http', 'ws')}/sockets/events/${String(id).replaceAll('-', '')}?resend_all=true`,
            { headers },
          );
          const [first] = (await once(socket, 'message')) as [Buffer];
          expect(JSON.parse(first.toString())).toHaveProperty('kind');
          socket.close();
        },
        ALL_MS_MAX,
      );

      it(
        'is refused where its host has no relay, with what to set',
        async () => {
          const { id } = await written('alpha');
          const refused = await read(id, 'files');
          expect([refused.status, await refused.json()]).toEqual([
            502,
            expect.objectContaining({ code: 'host_unreachable' }),
          ]);
        },
        ALL_MS_MAX,
      );
    });
  });
});

function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
