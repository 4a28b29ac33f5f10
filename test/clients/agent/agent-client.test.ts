/**
 * The port's promises over the wire of an Agent Server.
 */
import { renameSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createAgentClient } from '../../../clients/agent/agent-client.ts';
import type { AgentClient } from '../../../clients/agent/agent-client.ts';
import { JSON_BYTES_MAX, PAGE_BYTES_MAX } from '../../../clients/agent/limits.ts';
import { conversationId } from '../../../core/ids.ts';
import type { AgentConversationRequest } from '../../../ports/agent-server.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { SESSION_KEY, addressFor, startStub } from './stub-server.ts';
import type { Stub } from './stub-server.ts';

const HEX = '0123456789abcdef0123456789abcdef';
const HYPHENATED = '01234567-89ab-cdef-0123-456789abcdef';
const ID = conversationId(HEX);
const BASE = `/api/conversations/${HYPHENATED}`;

const request: AgentConversationRequest = {
  conversationId: ID,
  workingDir: '/workspace/app',
  llm: {
    model: 'coder',
    baseUrl: 'http://127.0.0.1:4100/v1',
    apiKey: 'virtual-key',
    extraHeaders: { 'x-team': 'a' },
    sessionHeader: 'x-proxyvendor-session-id',
  },
  secrets: { TOKEN: 'secret-value' },
  tags: { team: 'a' },
  iterationsMax: 50,
  confirmation: 'risky',
  userId: 'u1',
};

function info(given: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { id: HYPHENATED, execution_status: 'idle', updated_at: '2026-05-02T09:30:01.120000Z', ...given };
}

describe('createAgentClient()', () => {
  let stub: Stub;
  let client: AgentClient;
  beforeEach(async () => {
    stub = await startStub();
    client = createAgentClient({ timeoutMs: 5_000 });
    onTestFinished(() => client.close());
  });
  const lines = (): readonly string[] => stub.seen.map(({ line }) => line);

  it('opens a new conversation with everything it needs, and starts nothing', async () => {
    stub.answer('POST /api/conversations', { status: 201, body: info() });
    expect(await client.openConversation(stub.target, request)).toEqual({
      conversationId: ID,
      executionStatus: 'IDLE',
      pausedReason: null,
      iterationLimitReached: false,
      detail: null,
      retryAt: null,
      diskWasFull: false,
      metrics: null,
      updatedAt: Date.parse('2026-05-02T09:30:01.120Z'),
    });
    expect(lines()).toEqual(['POST /api/conversations']);
    expect(stub.seen[0]?.headers['x-session-api-key']).toBe(SESSION_KEY);
    const body = JSON.parse(stub.seen[0]?.body ?? '') as Record<string, unknown>;
    // What lies in the workspace is the agent's (D37).
    expect(body['load_project']).toBe(true);
    expect(body).not.toHaveProperty('initial_message');
    expect(body).toMatchObject({
      conversation_id: HYPHENATED,
      workspace: { kind: 'LocalWorkspace', working_dir: '/workspace/app' },
      agent: {
        llm: {
          model: 'openai/coder',
          api_key: 'virtual-key',
          base_url: 'http://127.0.0.1:4100/v1',
          extra_headers: { 'x-team': 'a' },
          session_header: 'x-proxyvendor-session-id',
        },
      },
      confirmation_policy: { kind: 'ConfirmRisky' },
      max_iterations: 50,
      secrets: { TOKEN: { kind: 'StaticSecret', value: 'secret-value' } },
      tags: { team: 'a' },
      user_id: 'u1',
    });
  });

  it('arms an existing conversation again with model key and secrets', async () => {
    stub.answer('POST /api/conversations', { status: 200, body: info({ execution_status: 'paused' }) });
    stub.answer(`POST ${BASE}/llm`, {});
    stub.answer(`POST ${BASE}/secrets`, {});
    expect(await client.openConversation(stub.target, request)).toMatchObject({ executionStatus: 'PAUSED' });
    expect(lines()).toEqual(['POST /api/conversations', `POST ${BASE}/llm`, `POST ${BASE}/secrets`]);
    expect(JSON.parse(stub.seen[1]?.body ?? '')).toMatchObject({
      api_key: 'virtual-key',
      base_url: 'http://127.0.0.1:4100/v1',
    });
  });

  it.each([
    ['idle', 'IDLE'],
    ['running', 'RUNNING'],
    ['waiting_for_confirmation', 'WAITING_FOR_CONFIRMATION'],
    ['FINISHED', 'FINISHED'],
    ['stuck', 'STUCK'],
    ['error', 'ERROR'],
  ])('reads status %s as %s', async (word, status) => {
    stub.answer(`GET ${BASE}`, { body: info({ execution_status: word }) });
    stub.answer(`GET ${BASE}/events/search`, { body: { items: [] } });
    expect((await client.conversation(stub.target, ID))?.executionStatus).toBe(status);
  });

  it('reads metrics, and why an agent paused by itself', async () => {
    const usage = (prompt: number): unknown => ({
      model_name: 'coder',
      accumulated_cost: 0.5,
      accumulated_token_usage: { prompt_tokens: prompt, completion_tokens: 2 },
    });
    const paused = { execution_status: 'paused', agent_state: { paused_reason: 'rate_limit' } };
    const stats = { usage_to_metrics: { agent: usage(10), title: usage(5) } };
    stub.answer(`GET ${BASE}`, { body: info({ ...paused, stats }) });
    expect(await client.conversation(stub.target, ID)).toMatchObject({
      pausedReason: 'rate_limit',
      metrics: { modelName: 'coder', promptTokens: 15, completionTokens: 4, accumulatedCostUsd: 1 },
    });
  });

  it.each([
    ['MaxIterationsReached', true],
    ['LLMAuthenticationError', false],
  ])('tells a used-up limit from an error: %s', async (code, iterationLimitReached) => {
    const event = { id: 'e', timestamp: 't', kind: 'ConversationErrorEvent', source: 'environment', code };
    stub.answer(`GET ${BASE}`, { body: info({ execution_status: 'error' }) });
    stub.answer(`GET ${BASE}/events/search?kind=ConversationErrorEvent`, { body: { items: [event] } });
    expect(await client.conversation(stub.target, ID)).toMatchObject({
      executionStatus: 'ERROR',
      iterationLimitReached,
    });
  });

  it('reads the body of a callback', () => {
    const failed = { execution_status: 'error', agent_state: { error_code: 'MaxIterationsReached' } };
    expect(client.readCallback(info(failed))).toMatchObject({
      executionStatus: 'ERROR',
      iterationLimitReached: true,
    });
    expect(client.readCallback(info({ execution_status: 'deleting' }))).toBeNull();
    expect(() => client.readCallback({ id: 1 })).toThrow(expect.objectContaining({ code: 'agent_refused' }));
  });

  it('names a status word that it does not know', async () => {
    stub.answer(`GET ${BASE}`, { body: info({ execution_status: 'dreaming' }) });
    await expect(client.conversation(stub.target, ID)).rejects.toMatchObject({
      code: 'agent_refused',
      message: expect.stringContaining('"dreaming"'),
    });
  });

  it('takes a missing conversation, or one that is being deleted, as none', async () => {
    expect(await client.conversation(stub.target, ID)).toBeNull();
    stub.answer(`GET ${BASE}`, { body: info({ execution_status: 'deleting' }) });
    expect(await client.conversation(stub.target, ID)).toBeNull();
    await client.deleteConversation(stub.target, ID);
  });

  it('sends a message under its id, and starts only when told', async () => {
    stub.answer(`POST ${BASE}/events`, {});
    await client.sendMessage(stub.target, ID, { messageId: 'm-1', text: 'hello', run: false });
    expect(stub.seen[0]?.headers['idempotency-key']).toBe('m-1');
    expect(JSON.parse(stub.seen[0]?.body ?? '')).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'hello' }],
      run: false,
    });
  });

  it('takes "already running" as success, and an unknown conversation as not found', async () => {
    stub.answer(`POST ${BASE}/run`, { status: 409 });
    await client.run(stub.target, ID);
    stub.answer(`POST ${BASE}/pause`, { status: 400 });
    await expect(client.pause(stub.target, ID)).rejects.toMatchObject({ code: 'not_found' });
    await expect(client.interrupt(stub.target, ID)).rejects.toMatchObject({ code: 'not_found' });
    stub.answer(`POST ${BASE}/events/respond_to_confirmation`, {});
    await client.answerConfirmation(stub.target, ID, { accept: false, reason: 'no' });
    expect(JSON.parse(stub.seen.at(-1)?.body ?? '')).toEqual({ accept: false, reason: 'no' });
  });

  it('reads no more of a file than it is told to', async () => {
    stub.answer('GET /api/file/download', { body: 'four' });
    expect(await client.readFile(stub.target, '/workspace/a', 4)).toEqual(Buffer.from('four'));
    await expect(client.readFile(stub.target, '/workspace/a', 3)).rejects.toMatchObject({
      code: 'agent_refused',
      details: { bytesMax: 3 },
    });
  });

  it('reads a page that is too large in smaller ones, and refuses one event that is', async () => {
    const event = { id: 'e1', timestamp: '2026-05-02T09:30:01', kind: 'MessageEvent', source: 'agent' };
    const large = 'x'.repeat(PAGE_BYTES_MAX + 1);
    const search = `GET ${BASE}/events/search?limit=`;
    for (const limit of [100, 20]) stub.answer(`${search}${limit}&`, { body: large });
    stub.answer(`${search}4&`, { body: { items: [event], next_page_id: 'e2' } });
    expect(await client.events(stub.target, ID, null)).toMatchObject({ items: [event], nextPageId: 'e2' });
    stub.answer(`${search}4&`, { body: large });
    stub.answer(`${search}1&`, { body: 'x'.repeat(JSON_BYTES_MAX + 1) });
    await expect(client.events(stub.target, ID, null)).rejects.toMatchObject({ code: 'agent_refused' });
    expect(lines().map((line) => /limit=(\d+)/.exec(line)?.[1])).toEqual(
      ['100', '20', '4', '100', '20', '4', '1'], // each a fifth of the one before
    );
  });

  it('pages through events and passes unknown fields on', async () => {
    const event = {
      id: 'e1',
      timestamp: '2026-05-02T09:30:01',
      kind: 'NewKind',
      source: 'agent',
      extra: { a: 1 },
    };
    stub.answer(
      `GET ${BASE}/events/search`,
      { body: { items: [event], next_page_id: 'e2' } },
      { body: { items: [] } },
    );
    expect(await client.events(stub.target, ID, null)).toEqual({
      items: [event],
      nextPageId: 'e2',
      bytes: expect.any(Number) as number,
    });
    expect(await client.events(stub.target, ID, 'e2')).toEqual({ items: [], nextPageId: null, bytes: 12 });
    expect(lines()[1]).toContain('page_id=e2');
  });

  it('runs commands, joins output that came in parts, and tells a time-out', async () => {
    const row = { command_id: 'c1', exit_code: 0, stderr: null };
    stub.answer(
      'POST /api/bash/execute_bash_command',
      { body: { ...row, order: 0, stdout: 'all' } },
      { body: { ...row, order: 1, stdout: 'b' } },
      { body: { command_id: 'c2', order: 0, exit_code: -1, stdout: null, stderr: null } },
    );
    const page = {
      items: [
        { ...row, order: 1, stdout: 'b' },
        { ...row, order: 0, exit_code: null, stdout: 'a' },
      ],
    };
    stub.answer('GET /api/bash/bash_events/search', { body: page });
    const command = { command: 'x', workingDir: '/workspace', timeoutMs: 1_500 };
    expect(await client.execute(stub.target, command)).toEqual({ exitCode: 0, stdout: 'all', stderr: '' });
    expect(JSON.parse(stub.seen[0]?.body ?? '')).toEqual({ command: 'x', cwd: '/workspace', timeout: 2 });
    expect(await client.execute(stub.target, command)).toEqual({ exitCode: 0, stdout: 'ab', stderr: '' });
    expect(await client.execute(stub.target, command)).toEqual({ exitCode: -1, stdout: '', stderr: '' });
  });

  it('reads and writes files as bytes, and patches', async () => {
    stub.answer('GET /api/file/download?path=%2Fworkspace%2Fa+b', { body: 'content' });
    stub.answer('POST /api/file/upload', {});
    stub.answer('GET /api/git/patch?path=%2Fworkspace&ref=abc', { body: 'diff --git' });
    expect(String(await client.readFile(stub.target, '/workspace/a b'))).toBe('content');
    expect(await client.readFile(stub.target, '/workspace/none')).toBeNull();
    await client.writeFile(stub.target, '/workspace/f', Buffer.from('written'));
    expect(stub.seen.at(-1)?.body).toMatch(/name="file"; filename="f"[^]*written/);
    const patch = await client.patch(stub.target, { path: '/workspace', baseCommit: 'abc' });
    expect([String(patch.content), patch.findings]).toEqual(['diff --git', []]);
  });

  it('tells "ask again" from "never"', async () => {
    const finding = { loc: ['body', 'tags'], msg: 'too many', input: 'secret-value' };
    const cases = [
      [401, { detail: 'Unauthorized' }, 'agent_refused'],
      [422, { detail: [finding] }, 'agent_refused'],
      [404, { detail: 'Not Found' }, 'not_found'],
      [429, {}, 'agent_unreachable'],
      [503, 'oops', 'agent_unreachable'],
      [200, 'no json', 'agent_refused'],
      [200, { idle_time: 'long' }, 'agent_refused'],
    ] as const;
    for (const [status, body, code] of cases) {
      stub.answer('GET /server_info', { status, body });
      const failure: unknown = await client.idleSeconds(stub.target).catch((error: unknown) => error);
      expect(failure, String(status)).toMatchObject({ code });
      expect(String(failure)).not.toContain('secret-value');
    }
  });
});

describe('reaching an Agent Server', () => {
  const open = (timeoutMs = 5_000): AgentClient => {
    const client = createAgentClient({ timeoutMs });
    onTestFinished(() => client.close());
    return client;
  };

  it('speaks to a URL as to a socket', async () => {
    const stub = await startStub('tcp');
    stub.answer('GET /server_info', { body: { idle_time: 7 } });
    expect(await open().idleSeconds(stub.target)).toBe(7);
  });

  it('gives up at its deadline when nothing answers', async () => {
    const socketPath = path.join(tempDir(), 'agent.sock');
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(socketPath, resolve));
    onTestFinished(() => void silent.close());
    const target = { address: addressFor({ socketPath }), sessionKey: SESSION_KEY };
    await expect(open(100).idleSeconds(target)).rejects.toMatchObject({
      code: 'agent_unreachable',
      message: expect.stringContaining('100 ms'),
    });
  });

  it('is told at once when nobody listens', async () => {
    const target = {
      address: addressFor({ socketPath: '/nonexistent/agent.sock' }),
      sessionKey: SESSION_KEY,
    };
    await expect(open().idleSeconds(target)).rejects.toMatchObject({ code: 'agent_unreachable' });
  });

  it('never follows a link that a sandbox put in the place of its socket', async () => {
    const stub = await startStub();
    stub.answer('GET /server_info', { body: { idle_time: 1 } });
    const elsewhere = `${stub.socketPath}.real`;
    renameSync(stub.socketPath, elsewhere);
    symlinkSync(elsewhere, stub.socketPath);
    await expect(open().idleSeconds(stub.target)).rejects.toMatchObject({ code: 'agent_unreachable' });
    expect(stub.seen).toEqual([]);
  });

  it('leaves the connections of an older generation when a newer one is called', async () => {
    const [older, newer] = [await startStub(), await startStub()];
    for (const stub of [older, newer]) stub.answer('GET /server_info', { body: { idle_time: 1 } });
    const client = open();
    await client.idleSeconds(older.target);
    const address = addressFor({ socketPath: newer.socketPath }, 2);
    await client.idleSeconds({ address, sessionKey: SESSION_KEY });
    await client.idleSeconds(older.target);
    expect([older.seen.length, newer.seen.length]).toEqual([2, 1]);
  });
});
