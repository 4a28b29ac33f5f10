/** What is said otherwise to a real OpenHands server: messages that are sent once, runs that approve nothing, arming. */
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createAgentClient } from '../../../clients/agent/agent-client.ts';
import type { AgentClient } from '../../../clients/agent/agent-client.ts';
import { conversationId } from '../../../core/ids.ts';
import { startStub } from './stub-server.ts';
import type { Stub } from './stub-server.ts';

const HEX = '0123456789abcdef0123456789abcdef';
const BASE = '/api/conversations/01234567-89ab-cdef-0123-456789abcdef';
const ID = conversationId(HEX);
const MESSAGE = { messageId: 'b9c7f7de-7a1f-4b73-9f0c-3c0f64d8f4a1', text: 'hello', run: true };
const MARK = `<!-- message ${MESSAGE.messageId} -->`;

function info(status: string): Record<string, unknown> {
  return { id: HEX, execution_status: status, updated_at: '2026-05-02T09:30:01.120000Z' };
}

function messageEvent(...texts: readonly string[]): Record<string, unknown> {
  const content = texts.map((text) => ({ type: 'text', text }));
  const fixed = { id: 'e1', timestamp: '2026-05-02T09:30:01.120000', kind: 'MessageEvent', source: 'user' };
  return { ...fixed, llm_message: { role: 'user', content } };
}

describe('the dialect of OpenHands', () => {
  let stub: Stub;
  let client: AgentClient;
  beforeEach(async () => {
    stub = await startStub();
    client = createAgentClient({ timeoutMs: 5_000, dialect: 'openhands' });
    onTestFinished(() => client.close());
  });
  const lines = (): readonly string[] => stub.seen.map(({ line }) => line.split('?')[0] ?? '');
  const found = (...items: readonly object[]): void =>
    stub.answer(`GET ${BASE}/events/search`, { body: { items, next_page_id: null } });

  it('sends a message that is absent, with its id in a block of its own', async () => {
    found(messageEvent('hello'), messageEvent('other', '<!-- message 0 -->'));
    stub.answer(`POST ${BASE}/events`, {});
    await client.sendMessage(stub.target, ID, MESSAGE);
    expect(lines()).toEqual([`GET ${BASE}/events/search`, `POST ${BASE}/events`]);
    expect(JSON.parse(stub.seen[1]?.body ?? '')).toEqual({
      role: 'user',
      run: true,
      content: [
        { type: 'text', text: 'hello' },
        { type: 'text', text: MARK },
      ],
    });
  });

  it.each([
    ['idle', true, true],
    ['idle', false, false],
    ['running', true, false],
    ['finished', true, false],
    ['waiting_for_confirmation', true, false],
  ])(
    'sends none that is there; an agent that is %s and was to run (%s) is started: %s',
    async (status, run, starts) => {
      found(messageEvent('hello', MARK));
      stub.answer(`GET ${BASE}`, { body: info(status) });
      stub.answer(`POST ${BASE}/run`, {});
      await client.sendMessage(stub.target, ID, { ...MESSAGE, run });
      expect(lines().includes(`POST ${BASE}/run`)).toBe(starts);
      expect(lines()).not.toContain(`POST ${BASE}/events`);
    },
  );

  it('does not send when it cannot read whether the message is there', async () => {
    stub.answer(`GET ${BASE}/events/search`, { status: 503 });
    await expect(client.sendMessage(stub.target, ID, MESSAGE)).rejects.toMatchObject({
      code: 'agent_unreachable',
    });
    expect(lines()).not.toContain(`POST ${BASE}/events`);
  });

  it.each([
    ['idle', true],
    ['paused', true],
    ['waiting_for_confirmation', false],
  ])('runs an agent that is %s: %s', async (status, runs) => {
    stub.answer(`GET ${BASE}`, { body: info(status) });
    stub.answer(`POST ${BASE}/run`, {});
    await client.run(stub.target, ID);
    expect(lines().includes(`POST ${BASE}/run`)).toBe(runs);
  });

  it('shows messages without their ids', async () => {
    found(messageEvent('hello', MARK));
    const { items } = await client.events(stub.target, ID, null);
    expect(items).toEqual([messageEvent('hello')]);
  });

  it('opens with modules of tools, what the workspace brings and the header of the conversation, and arms with a whole model', async () => {
    const hookConfig = {
      pre_tool_use: [{ matcher: 'terminal', hooks: [{ command: 'exit 2', name: 'mine' }] }],
    };
    const skill = {
      name: 'fly',
      type: 'knowledge',
      content: 'Flap.',
      triggers: ['fly'],
      source: '/s/fly.md',
    };
    stub.answer('POST /api/skills', { body: { skills: [skill], sources: {} } });
    stub.answer('POST /api/hooks', { body: { hook_config: hookConfig } });
    stub.answer('POST /api/conversations', { status: 200, body: info('idle') });
    stub.answer(`POST ${BASE}/switch_llm`, {});
    await client.openConversation(stub.target, {
      conversationId: ID,
      workingDir: '/workspace/app',
      llm: {
        model: 'm',
        baseUrl: 'http://h/v1',
        apiKey: 'k',
        extraHeaders: { a: 'b' },
        sessionHeader: 'x-s',
      },
      ...{ secrets: {}, tags: {}, iterationsMax: 5, confirmation: 'never', userId: null },
    });
    const llm = { model: 'openai/m', base_url: 'http://h/v1', api_key: 'k', usage_id: 'agent' };
    expect(JSON.parse(stub.seen[0]?.body ?? '')).toMatchObject({
      ...{ project_dir: '/workspace/app', load_project: true, load_user: false },
    });
    expect(JSON.parse(stub.seen[2]?.body ?? '')).toMatchObject({
      agent: {
        llm: { ...llm, extra_headers: { a: 'b', 'x-s': HEX } },
        agent_context: {
          skills: [{ name: 'fly', trigger: { type: 'keyword', keywords: ['fly'] }, source: '/s/fly.md' }],
        },
      },
      hook_config: hookConfig,
      tool_module_qualnames: { terminal: 'openhands.tools.terminal.definition' },
    });
    expect(JSON.parse(stub.seen[3]?.body ?? '')).toMatchObject({ llm });
    expect(lines()).toEqual([
      ...['POST /api/skills', 'POST /api/hooks', 'POST /api/conversations'],
      `POST ${BASE}/switch_llm`,
    ]);
  });
});
