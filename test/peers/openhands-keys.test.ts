/**
 * What the Agent Server of OpenHands does with the keys it is given, by the real program: the key of a model stays
 * with the address it came for, and its session key is no secret to its tools. docs/security.md says both.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { endProcess } from '../helpers/end-process.ts';
import { requirePeerPython } from '../helpers/python-peers.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const START_MS = 300_000;
const POLL_MS = 200;
const SESSION_KEY = 'session-key-of-the-test';
const MODEL_KEY = 'model-key-of-the-test';
const AT_REST = new Set(['finished', 'idle', 'error', 'stuck', 'paused']);

type Row = Readonly<Record<string, unknown>>;
type Call = (route: string, body?: unknown) => Promise<Row>;

/** A model that answers everything, and the keys it was shown. */
async function model(): Promise<{ readonly url: string; readonly keys: readonly string[] }> {
  const keys: string[] = [];
  const message = { role: 'assistant', content: 'well' };
  const answer = { id: 'a', object: 'chat.completion', created: 1, model: 'm' };
  const server = createServer((request, response) => {
    keys.push(String(request.headers.authorization));
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...answer, choices: [{ index: 0, finish_reason: 'stop', message }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, keys };
}

async function until<T>(ask: () => Promise<T>, fits: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await ask();
    if (fits(found)) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function serve(dir: string): Promise<Call> {
  const python = requirePeerPython('openhands');
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const args = ['-m', 'openhands.agent_server', '--host', '127.0.0.1', '--port', String(port)];
  const child = spawn(python, args, {
    cwd: dir,
    env: {
      ...{ PATH: process.env['PATH'] ?? '', HOME: dir, TZ: 'UTC' },
      OH_SESSION_API_KEYS_0: SESSION_KEY,
      OH_CONVERSATIONS_PATH: path.join(dir, 'conversations'),
      OH_BASH_EVENTS_DIR: path.join(dir, 'bash'),
      ...{ OH_ENABLE_VSCODE: 'false', OH_ENABLE_VNC: 'false', OH_PRELOAD_TOOLS: 'false' },
      ...{ LITELLM_LOCAL_MODEL_COST_MAP: 'True', OPENHANDS_SUPPRESS_BANNER: '1' },
    },
    stdio: 'ignore',
  });
  onTestFinished(() => endProcess(child, 'SIGTERM'));
  const headers = { 'x-session-api-key': SESSION_KEY, 'content-type': 'application/json' };
  const call: Call = async (route, body) => {
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${port}${route}`, { headers, ...post });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${route} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as Row;
  };
  await until(
    () =>
      call('/api/conversations/count').then(
        () => true,
        () => child.exitCode !== null,
      ),
    (isOver) => isOver,
  );
  return call;
}

describeWith('openhands', 'the keys of an Agent Server of OpenHands', () => {
  it(
    'shows the key of a model to no other address, and its session key to its tools',
    async () => {
      const dir = tempDir();
      const [first, second] = [await model(), await model()];
      const call = await serve(dir);
      const llm = {
        model: 'openai/m',
        base_url: first.url,
        api_key: MODEL_KEY,
        usage_id: 'a',
        num_retries: 0,
      };
      const { id } = await call('/api/conversations', {
        workspace: { kind: 'LocalWorkspace', working_dir: dir },
        agent: { kind: 'Agent', llm, tools: [] },
      });
      const route = `/api/conversations/${String(id)}`;
      const turn = async (): Promise<Row> => {
        const content = [{ type: 'text', text: 'go on' }];
        await call(`${route}/events`, { role: 'user', content, run: true });
        return await until(
          () => call(route),
          (row) => AT_REST.has(String(row['execution_status'])),
        );
      };
      const told = await turn();
      expect(first.keys).toContain(`Bearer ${MODEL_KEY}`);
      const shown = (told['agent'] as { readonly llm: Row }).llm;
      expect(JSON.stringify(shown)).not.toContain(MODEL_KEY);

      const { api_key: _, ...keyless } = llm;
      // Without a key, and with the mask that the server shows in its place.
      for (const [index, changed] of [keyless, { ...keyless, api_key: shown['api_key'] }].entries()) {
        await call(`${route}/switch_llm`, {
          llm: { ...changed, base_url: second.url, usage_id: `b${index}` },
        });
        await turn();
      }
      expect(second.keys.join(' ')).not.toContain(MODEL_KEY);

      const poll = `cat /proc/[0-9]*/environ 2> /dev/null | grep -aqF ${SESSION_KEY} && echo read`;
      const seen = await call('/api/bash/execute_bash_command', { command: poll, cwd: dir, timeout: 60 });
      expect(seen).toMatchObject({ stdout: 'read\n' });
    },
    START_MS,
  );
});
