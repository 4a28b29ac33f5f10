/** `parley mcp --http`: who may come, and a conversation of `parley serve` by the client of the protocol's own library. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { startProgram, type RunningProgram } from '../../e2e/running-program.ts';
import { call, connected, mcpBatch, type McpBatch } from './mcp-batch.ts';

const MS_MAX = 600_000;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

interface Served {
  readonly url: string;
  readonly key: string;
  readonly program: RunningProgram;
}

async function serveMcp({ copy, gateway }: McpBatch, args: readonly string[], env = {}): Promise<Served> {
  const words = ['mcp', '--http', '--port', '0', '--json', ...args];
  const program = startProgram(copy, 'bin/parley.js', words, { ...gateway.env, ...env });
  onTestFinished(() => program.kill());
  const url = await program.line(/"url":"([^"]+)"/);
  const key = await program.line(/"key":(?:"([0-9a-f]+)"|null)/);
  return { url, key, program };
}

it(
  'asks for the key, the host it has and no page of others, and ends a session that is not there',
  async () => {
    const { url, key } = await serveMcp(await mcpBatch(), []);
    const post = async (
      headers: Readonly<Record<string, string>>,
      body: object = INITIALIZE,
    ): Promise<number> => {
      const answer = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify(body),
      });
      await answer.body.dump();
      return answer.statusCode;
    };
    const authorization = `Bearer ${key}`;
    expect(key).toHaveLength(64);
    expect(await post({})).toBe(401);
    expect(await post({ authorization: 'Bearer wrong' })).toBe(401);
    expect(await post({ authorization, host: 'parley.example.com' })).toBe(403);
    expect(await post({ authorization, origin: 'https://page.example.com' })).toBe(403);
    expect(await post({ authorization, 'mcp-session-id': 'gone' })).toBe(404);
    expect(await post({ authorization }, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).toBe(422);
    expect(await post({ authorization })).toBe(200);
  },
  MS_MAX,
);

it(
  'hands a conversation to a service that has an address and a key, which stand in no answer',
  async () => {
    const batch = await mcpBatch();
    const service = startProgram(
      batch.copy,
      'bin/parley.js',
      ['serve', '--port', '0', '--json'],
      batch.gateway.env,
    );
    onTestFinished(() => service.kill());
    const server = await service.line(/"url":"([^"]+)"/);
    const apiKey = await service.line(/"key":"([^"]+)"/);
    const { url, key, program } = await serveMcp(batch, ['--server', server], { PARLEY_API_KEY: apiKey });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    const client = await connected(new StreamableHTTPClientTransport(new URL(url), { requestInit }) as never);
    const said: string[] = [];
    const started = await call(
      client,
      'start',
      {
        message: 'Add an ES module entry to this package.',
        repository: 'npm/ms',
        model: 'coder',
        wait: 'done',
      },
      { onProgress: (message) => said.push(message) },
    );
    expect(started.data, started.text).toMatchObject({
      conversation: { start_task_status: 'READY' },
      timed_out: false,
    });
    expect(said.length).toBeGreaterThan(1);
    const { id } = started.data['conversation'] as { readonly id: string };
    const changed = await call(client, 'results', { conversation_id: id });
    expect(changed.isError, changed.text).toBe(false);
    const told = await call(client, 'start', { message: `The key is ${apiKey}.`, wait: 'none' });
    expect(told.text).not.toContain(apiKey);
    expect(`${started.text}${changed.text}`).not.toMatch(new RegExp(`${apiKey}|${key}|session_api_key`));
    const list = await call(client, 'status', { limit: 1 });
    expect(list.data['conversations']).toHaveLength(1);
    const next = await call(client, 'status', { limit: 1, cursor: list.data['next_cursor'] });
    expect(next.data['conversations']).toMatchObject([{ id }]);
    service.kill();
    await service.ended;
    const unreachable = await call(client, 'cancel', { conversation_id: id });
    expect(unreachable).toMatchObject({ isError: true });
    expect(unreachable.text).toContain('Code: engine_unreachable');
    expect(program.pid).toBeGreaterThan(0);
  },
  MS_MAX,
);
