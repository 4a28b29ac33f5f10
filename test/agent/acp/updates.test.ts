/** Updates of an agent of the Agent Client Protocol become events in our shapes, whatever it sends. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { LLM_KEY } from '../harness.ts';
import { acpHarness, kindsOf, messageText } from './acp-harness.ts';

const chunk = (text: string, more: object = {}): object => ({
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more },
});
const thought = (text: string): object => ({
  update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } },
});
const call = (fields: object): object => ({ update: { sessionUpdate: 'tool_call', ...fields } });
const change = (fields: object): object => ({ update: { sessionUpdate: 'tool_call_update', ...fields } });
const said = (text: string): object => ({ content: [{ type: 'content', content: { type: 'text', text } }] });
const end = { stop: 'end_turn' };

describe('updates of an agent', () => {
  it('makes one message of chunks, and keeps thoughts beside it', async () => {
    const { harness, start } = await acpHarness();
    await start([thought('Let me '), thought('see.'), chunk('Hel'), chunk('lo.'), end] as never);
    await harness.reaches('finished');
    const [message] = (await harness.eventsOf('MessageEvent')).filter(({ source }) => source === 'agent');
    expect(messageText(message)).toBe('Hello.');
    expect(message?.['llm_message']).toMatchObject({ role: 'assistant', reasoning_content: 'Let me see.' });
    expect(await harness.at('GET /agent_final_response')).toMatchObject({ body: { response: 'Hello.' } });
  });

  it('makes an action and an observation of a call, once, with what was said before it', async () => {
    const { harness, start } = await acpHarness();
    const done = change({ toolCallId: 'c1', status: 'completed', ...said('out') });
    await start([
      chunk('I look.'),
      call({ toolCallId: 'c1', title: 'ls', kind: 'execute', status: 'pending', rawInput: {} }),
      change({ toolCallId: 'c1', status: 'in_progress', rawInput: { command: 'ls' } }),
      change({ toolCallId: 'c1', status: 'in_progress', ...said('ou') }),
      done,
      done,
      change({ toolCallId: 'c1', status: 'in_progress', title: 'late' }),
      chunk('Done.'),
      end,
    ] as never);
    await harness.reaches('finished');
    const events = await harness.events();
    expect(kindsOf(events)).toEqual(['MessageEvent', 'ActionEvent', 'ObservationEvent', 'MessageEvent']);
    const [action] = events.filter(({ kind }) => kind === 'ActionEvent');
    expect(action).toMatchObject({
      action: { kind: 'TerminalAction', command: 'ls' },
      thought: [{ text: 'I look.' }],
      tool_name: 'terminal',
      tool_call_id: 'c1',
      summary: 'ls',
    });
    const [observation] = events.filter(({ kind }) => kind === 'ObservationEvent');
    expect(observation).toMatchObject({
      action_id: action?.id,
      observation: { kind: 'TerminalObservation', is_error: false, content: [{ text: 'out' }] },
    });
  });

  it('takes a change of an unknown call, a failed one, a difference, and a call without an end', async () => {
    const { harness, start } = await acpHarness();
    const diff = { type: 'diff', path: '/w/a.txt', oldText: 'one', newText: 'two' };
    await start([
      change({ toolCallId: 'c1', status: 'completed', kind: 'edit', title: 'Edit', content: [diff] }),
      call({ toolCallId: 'c2', title: 'Fetch', kind: 'fetch', status: 'failed', rawOutput: { code: 404 } }),
      call({ toolCallId: 'c3', title: 'Search', kind: 'search', status: 'in_progress' }),
      end,
    ] as never);
    await harness.reaches('finished');
    const events = await harness.events();
    expect(kindsOf(events).slice(1)).toEqual([
      ...[
        'ActionEvent',
        'ObservationEvent',
        'ActionEvent',
        'ObservationEvent',
        'ActionEvent',
        'AgentErrorEvent',
      ],
    ]);
    const [edited, fetched] = events.filter(({ kind }) => kind === 'ObservationEvent');
    expect(edited?.['observation']).toMatchObject({ content: [{ text: '[/w/a.txt]\n-one\n+two' }] });
    expect(fetched?.['observation']).toMatchObject({ is_error: true, content: [{ text: '{"code":404}' }] });
    const risks = events.filter(({ kind }) => kind === 'ActionEvent').map((event) => event['security_risk']);
    expect(risks).toEqual(['UNKNOWN', 'UNKNOWN', 'LOW']);
  });

  it('makes a task list of a plan, and not a second one of the same', async () => {
    const { harness, start } = await acpHarness();
    const plan = (status: string): object => ({
      update: { sessionUpdate: 'plan', entries: [{ content: 'Write', priority: 'high', status }] },
    });
    await start([plan('pending'), plan('pending'), plan('completed'), chunk('Done.'), end] as never);
    await harness.reaches('finished');
    const lists = (await harness.eventsOf('ObservationEvent')).map(
      ({ observation }) => (observation as { readonly task_list: unknown }).task_list,
    );
    expect(lists).toEqual([
      [{ title: 'Write', notes: '', status: 'todo' }],
      [{ title: 'Write', notes: '', status: 'done' }],
    ]);
  });

  it('outlives what is malformed, unknown, of another session, and late', async () => {
    const { harness, start, send, heardOf } = await acpHarness();
    const go = join(harness.folder, 'go');
    await start([
      { raw: 'no json {' },
      { raw: '[1, 2]' },
      { raw: '"text"' },
      { send: { method: 'session/update', params: 7 } },
      {
        send: {
          method: 'session/update',
          params: { sessionId: 'other', update: { sessionUpdate: 'plan', entries: [] } },
        },
      },
      { send: { id: 'agent-x', result: {} } },
      { send: { method: 'unheard/of', params: {} } },
      { call: { method: 'unheard/request', params: {} } },
      { update: { sessionUpdate: 'of_a_later_release' } },
      { update: { sessionUpdate: 'tool_call', toolCallId: 7 } },
      {
        update: {
          sessionUpdate: 'tool_call',
          toolCallId: 'c',
          title: 't',
          kind: 'of_a_later_release',
          status: 'completed',
        },
      },
      { update: { sessionUpdate: 'usage_update', used: 1, size: 2 } },
      { update: { sessionUpdate: 'available_commands_update', availableCommands: [] } },
      chunk('Here.'),
      end,
      end,
      { untilFile: go },
      chunk('Late.'),
      { variables: [] },
    ] as never);
    await harness.reaches('finished');
    writeFileSync(go, '');
    await expect.poll(() => heardOf('variables')).toHaveLength(1);
    await send([chunk('Again.'), end] as never);
    await expect
      .poll(async () => (await harness.eventsOf('MessageEvent')).map(messageText).join(''))
      .toContain('Again.');
    await harness.reaches('finished');
    const messages = (await harness.eventsOf('MessageEvent')).filter(({ source }) => source === 'agent');
    expect(messageText(messages[0])).toBe('Here.');
    expect(messages.map(messageText).join('')).toBe('Here.Late.Again.');
    expect((await harness.eventsOf('ActionEvent')).map(({ tool_name: name }) => name)).toEqual(['other']);
    expect(heardOf('unheard/request')).toMatchObject([{ error: { code: -32601 } }]);
    expect(heardOf('protocolError').length).toBeGreaterThanOrEqual(2);
    expect(harness.logLines.filter((line) => line.includes('cannot be read'))).toHaveLength(1);
  });

  it('serves files and terminals in the workspace', async () => {
    const { harness, start, heardOf } = await acpHarness();
    const file = join(harness.workspace, 'lines.txt');
    writeFileSync(file, 'one\ntwo\nthree\n');
    const made = join(harness.workspace, 'new/made.txt');
    const of = (method: string, params: object, terminal = false): object => ({
      call: { method, params, terminal },
    });
    await start([
      of('fs/read_text_file', { path: file }),
      of('fs/read_text_file', { path: file, line: 2, limit: 1 }),
      of('fs/read_text_file', { path: 'lines.txt' }),
      of('fs/read_text_file', { path: join(harness.workspace, 'none.txt') }),
      of('fs/write_text_file', { path: made, content: 'made\n' }),
      of('fs/write_text_file', { path: made, content: 'x', sessionId: 'other' }),
      of('terminal/create', { command: 'echo out; echo err >&2; exit 3' }),
      of('terminal/wait_for_exit', {}, true),
      of('terminal/output', {}, true),
      call({
        ...{
          toolCallId: 'c',
          title: 'echo',
          kind: 'execute',
          status: 'in_progress',
          rawInput: { command: 'echo' },
        },
      }),
      of('terminal/release', {}, true),
      of('terminal/output', {}, true),
      of('terminal/create', { command: 'sleep', args: ['60'], outputByteLimit: 10 }),
      of('terminal/kill', {}, true),
      of('terminal/wait_for_exit', {}, true),
      of('terminal/create', { command: 'printf', args: ['äöüßabc'], outputByteLimit: 4 }),
      of('terminal/wait_for_exit', {}, true),
      of('terminal/output', {}, true),
      end,
    ] as never);
    await harness.reaches('finished');
    expect(heardOf('fs/read_text_file')).toMatchObject([
      { content: 'one\ntwo\nthree\n' },
      { content: 'two' },
      { error: { code: -32602 } },
      { error: { message: expect.stringContaining('ENOENT') as string } },
    ]);
    expect(heardOf('fs/write_text_file')).toMatchObject([{}, { error: { code: -32602 } }]);
    expect(readFileSync(made, 'utf8')).toBe('made\n');
    expect(heardOf('terminal/wait_for_exit')).toEqual([
      { exitCode: 3, signal: null },
      { exitCode: null, signal: 'SIGKILL' },
      { exitCode: 0, signal: null },
    ]);
    expect(heardOf('terminal/output')).toMatchObject([
      { truncated: false, exitStatus: { exitCode: 3 } },
      { error: {} },
      { output: 'abc', truncated: true },
    ]);
    const [first] = heardOf<{ readonly output: string }>('terminal/output');
    expect(first?.output.split('\n').sort()).toEqual(['', 'err', 'out']);
  });

  it('gives the key of the conversation and the address of its model, and nothing of the server', async () => {
    process.env['OH_SECRET_OF_THE_SERVER'] = 'x';
    const { harness, start, heardOf } = await acpHarness({ OWN: 'at ${LLM_BASE_URL} with ${TOKEN}' });
    const names = [
      'OPENAI_BASE_URL',
      'OPENAI_API_KEY',
      'ANTHROPIC_BASE_URL',
      'LLM_MODEL',
      'OWN',
      'OH_SECRET_OF_THE_SERVER',
    ];
    await start([{ variables: names }, { text: `The key is ${LLM_KEY}` }, end], {
      secrets: { TOKEN: 'a-secret-token' },
    });
    delete process.env['OH_SECRET_OF_THE_SERVER'];
    await harness.reaches('finished');
    const base = harness.llm.baseUrl;
    expect(heardOf('variables')).toEqual([
      {
        OPENAI_BASE_URL: base,
        OPENAI_API_KEY: LLM_KEY,
        ANTHROPIC_BASE_URL: base.replace(/\/v1$/, ''),
        LLM_MODEL: 'test-model',
        OWN: `at ${base} with a-secret-token`,
        OH_SECRET_OF_THE_SERVER: null,
      },
    ]);
    const stored = readFileSync(
      join(harness.conversationsDir, '0b1f0a5e2f514f399f351c0f0e8f1a01/events.jsonl'),
      'utf8',
    );
    expect(stored).not.toContain(LLM_KEY);
    expect(existsSync(harness.workspace)).toBe(true);
  });
});
