/**
 * `curl --http2` against a real deployment: it offers HTTP/2 with each request, and is answered in HTTP/1.1 at every
 * address that is listened on: the application API, the relay, and the sockets of agent, proxy and callbacks.
 */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { placesOf } from '../../host/sandboxes/places.ts';
import { serveFirst, type FirstServed } from '../api/first-service.ts';
import { describeWith } from '../helpers/requires.ts';

const ALL_MS_MAX = 300_000;
const APP = '/api/v1/app-conversations';

/** What curl prints; a stream that goes on is left after a moment, which is no failure. */
async function curl(args: readonly string[]): Promise<{ readonly out: string; readonly sent: string }> {
  const run = promisify(execFile)('curl', ['-sv', '--http2', ...args], { maxBuffer: 64 * 1024 * 1024 });
  const { stdout, stderr } = await run.catch((error: unknown) => {
    const left = error as { readonly code: number; readonly stdout: string; readonly stderr: string };
    if (left.code !== LEFT_EARLY) throw error;
    return left;
  });
  return { out: stdout, sent: stderr };
}

const LEFT_EARLY = 28;
const WHAT = ['-o', '/dev/null', '-w', '%{http_code} %{http_version}\n'];

/** Status and version of one answer; the offer was made. */
async function answered(args: readonly string[]): Promise<string> {
  const { out, sent } = await curl([...WHAT, ...args]);
  expect(sent).toMatch(/^> Upgrade: h2c/m);
  return out.trim();
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what comes is looked at by its paths
type Answer = Readonly<Record<string, any>>;

interface Lived {
  readonly id: string;
  readonly sandbox: string;
  readonly session: string;
}

async function lived(served: FirstServed): Promise<Lived> {
  const call = async (method: string, route: string, body?: object): Promise<Answer> => {
    const data =
      body === undefined ? [] : ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    const { out } = await curl(['-X', method, ...keyOf(served), ...data, `${served.url}${route}`]);
    return JSON.parse(out) as Answer;
  };
  const text = { type: 'text', text: 'Write hello.txt' };
  const task = await call('POST', APP, { initial_message: { content: [text] } });
  const ready = async (): Promise<Answer> => (await call('GET', `${APP}/start-tasks?ids=${task.id}`))[0];
  await expect.poll(async () => (await ready()).status as string).toBe('READY');
  const { app_conversation_id: id } = await ready();
  const record = async (): Promise<Answer> => (await call('GET', `${APP}?ids=${id}`))[0];
  await expect.poll(async () => (await record()).execution_status as string).toBe('FINISHED');
  const { sandbox_id: sandbox, session_api_key: session } = await record();
  const renamed = await call('PATCH', `${APP}/${id}`, { title: 'by curl' });
  expect(renamed.title).toBe('by curl');
  return { id, sandbox, session };
}

function keyOf({ key }: FirstServed): readonly string[] {
  return ['-H', `authorization: Bearer ${key ?? ''}`];
}

describeWith('curl', 'curl --http2', () => {
  it(
    'is answered in HTTP/1.1 wherever it asks, with bodies and without',
    async () => {
      const served = await serveFirst();
      const { id, sandbox, session } = await lived(served);
      const values: Readonly<Record<string, string>> = { conversation_id: id, sandbox_id: sandbox };
      const asked = [
        ...APPLICATION_ROUTES.filter(({ method }) => method === 'GET').map(({ url }) => url),
        ...['/', '/openapi.json', '/nothing', '/sandboxes/:sandbox_id/agent/health'],
      ].map((url) => url.replaceAll(/:([a-z_]+)/g, (_all, name: string) => values[name] ?? 'x'));
      expect(asked.length).toBeGreaterThan(45);
      const own = [...keyOf(served), '-H', `x-session-api-key: ${session}`];
      for (const one of asked) {
        const offered = await answered([...own, `${served.url}${one}`]);
        const { out: plain } = await curl([...WHAT, '--http1.1', ...own, `${served.url}${one}`]);
        // An export of before may still be on its way out.
        if (!one.endsWith('/download')) expect([one, offered]).toEqual([one, plain.trim()]);
        expect([one, offered]).toEqual([one, expect.stringMatching(/^[234]\d\d 1\.1$/)]);
      }
      const stream = [...own, '--max-time', '2', `${served.url}/api/v1/conversation/${id}/events/stream`];
      expect(await answered(stream)).toBe('200 1.1');
      const { out: zip } = await curl([...own, `${served.url}${APP}/${id}/download`]);
      expect(zip.slice(0, 2)).toBe('PK');
      expect(await answered([...own, '--head', `${served.url}${APP}/count`])).toBe('200 1.1');
      expect(await answered([...own, '-X', 'DELETE', `${served.url}${APP}/${id}`])).toBe('200 1.1');
    },
    ALL_MS_MAX,
  );

  it(
    'is answered in HTTP/1.1 at the sockets of agent, proxy and callbacks',
    async () => {
      const served = await serveFirst();
      const { id, session } = await lived(served);
      const { proxySocket, webhookSocket, sandboxSockets } = placesOf(served.dataDir);
      const [one = ''] = readdirSync(sandboxSockets);
      const agent = path.join(sandboxSockets, one, 'agent.sock');
      const at = async (socket: string, route: string, ...more: readonly string[]): Promise<string> =>
        await answered(['--unix-socket', socket, ...more, `http://x${route}`]);
      const key = ['-H', `x-session-api-key: ${session}`];
      const json = ['-H', 'content-type: application/json'];
      expect(await at(agent, '/health')).toBe('200 1.1');
      expect(await at(agent, '/api/conversations/search', ...key)).toBe('200 1.1');
      expect(await at(agent, `/sockets/events/${id}`, ...key)).toBe('404 1.1');
      expect(await at(proxySocket, '/v1/models')).toBe('401 1.1');
      expect(await at(proxySocket, '/v1/chat/completions', ...json, '-d', '{"model":"coder"}')).toBe(
        '401 1.1',
      );
      expect(await at(webhookSocket, `/api/v1/webhooks/events/${id}`, ...json, '-d', '[]')).toBe('401 1.1');
    },
    ALL_MS_MAX,
  );
});
