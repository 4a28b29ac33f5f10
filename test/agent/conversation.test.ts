/** Conversations from start to end, with real shells, files and HTTP. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { CONVERSATION_ID, Harness, LLM_KEY, makeRepository, userMessage } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';

const HEX_ID = CONVERSATION_ID.replaceAll('-', '');

describe('a conversation', () => {
  it('works with terminal and files in a repository and finishes', async () => {
    const harness = await Harness.start();
    makeRepository(harness.workspace);
    const file = join(harness.workspace, 'src/app.txt');
    harness.llm.script([
      toolCalls([
        'terminal',
        { command: 'cd src && export COLOR=blue && wc -l < app.txt', security_risk: 'LOW' },
      ]),
      toolCalls(
        ['file_editor', { command: 'str_replace', path: file, old_str: 'two', new_str: 'zwei' }],
        ['terminal', { command: 'echo "$COLOR in $PWD"; grep -c zwei app.txt; false' }],
      ),
      toolCalls(['finish', { message: 'Replaced two by zwei.' }]),
    ]);
    const started = await harness.run('translate', { user_id: 'user-1', tags: { team: 'x' } });
    expect(started.status).toBe(201);
    const info = await harness.reaches('finished');

    expect(readFileSync(file, 'utf8')).toBe('one\nzwei\nthree\n');
    expect(info).toMatchObject({
      id: CONVERSATION_ID,
      tags: { team: 'x' },
      agent: { llm: { api_key: null } },
      metrics: { accumulated_cost: 0.75 },
      stats: { usage_to_metrics: { agent: { accumulated_token_usage: { prompt_tokens: 300 } } } },
    });
    const observations = await harness.eventsOf('ObservationEvent');
    expect(observations.map((event) => event['observation'])).toMatchObject([
      { kind: 'TerminalObservation', content: [{ text: '3' }], exit_code: 0 },
      { kind: 'FileEditorObservation', is_error: false },
      {
        kind: 'TerminalObservation',
        content: [{ text: `blue in ${harness.workspace}/src\n1` }],
        exit_code: 1,
      },
      { kind: 'FinishObservation' },
    ]);
    const final = await harness.at('GET /agent_final_response');
    expect(final.body).toEqual({ response: 'Replaced two by zwei.' });
  });

  it('sends model calls with key, user, session header and native tools', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(['think', { thought: 'hm' }]), reply('done')]);
    await harness.run(
      'go',
      { user_id: 'user-1' },
      { extra_headers: { 'x-extra': 'yes', 'X-ProxyVendor-Session-Id': 'forged' } },
    );
    await harness.reaches('finished');
    const [first, second] = harness.llm.requests;
    expect(first?.url).toBe('/v1/chat/completions');
    expect(first?.headers).toMatchObject({
      authorization: `Bearer ${LLM_KEY}`,
      'x-extra': 'yes',
      'x-proxyvendor-session-id': HEX_ID,
    });
    expect(first?.body).toMatchObject({ model: 'test-model', user: 'user-1' });
    expect(first?.body.tools.map((tool) => tool.function.name)).toEqual([
      'terminal',
      'file_editor',
      'task_tracker',
      'finish',
      'think',
    ]);
    expect(second?.body.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ]);
    expect(second?.body.messages[3]?.tool_call_id).toBe(second?.body.messages[2]?.tool_calls?.[0]?.id);
  });

  it('logs events in the order of the reference, with increasing times', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(['finish', { message: 'ok' }])]);
    await harness.run('go');
    await harness.reaches('finished');
    const events = await harness.events();
    expect(events.map((event) => (event.kind.startsWith('Conv') ? event['key'] : event.kind))).toEqual([
      'SystemPromptEvent',
      'MessageEvent',
      'last_user_message_id',
      'execution_status',
      'stats',
      'ActionEvent',
      'ObservationEvent',
      'execution_status',
    ]);
    const times = events.map((event) => event.timestamp);
    expect(times).toEqual([...new Set(times)].sort());
    const action = events[5];
    expect(action).not.toHaveProperty('summary');
    const single = await harness.at(`GET /events/${String(action?.id).replaceAll('-', '')}`);
    expect(single.body).toMatchObject({ kind: 'ActionEvent', summary: null });
    const later = await harness.at(`GET /events/count?timestamp__gte=${times[5]}Z`);
    expect(later.body).toBe(3);
  });

  it('is created once, and armed again by a repeat', async () => {
    const harness = await Harness.start();
    harness.llm.script([reply('one')]);
    await harness.run('go');
    await harness.reaches('finished');
    const repeat = await harness.run('go');
    expect(repeat.status).toBe(200);
    expect(await harness.eventsOf('MessageEvent')).toHaveLength(2);
    expect((await harness.call('GET /api/conversations/count')).body).toBe(1);
  });

  it('stays idle when the first message says run: false', async () => {
    const harness = await Harness.start();
    await harness.call('POST /api/conversations', {
      json: harness.startBody({ initial_message: userMessage('later', false) }),
    });
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'idle' });
    harness.llm.script([reply('now')]);
    expect((await harness.at('POST /run')).status).toBe(200);
    await harness.reaches('finished');
    expect((await harness.at('POST /run')).status).toBe(200);
    expect(harness.llm.requests).toHaveLength(1);
  });

  it('takes a message once per idempotency key', async () => {
    const harness = await Harness.start();
    await harness.call('POST /api/conversations', { json: harness.startBody() });
    harness.llm.script([reply('a'), reply('b')]);
    const key = { 'idempotency-key': '5a2e0a5e2f514f399f351c0f0e8f1a01' };
    for (const _ of [1, 2, 3]) {
      expect((await harness.at('POST /events', userMessage('hello', true), key)).status).toBe(200);
    }
    await harness.reaches('finished');
    expect((await harness.at('POST /events', userMessage('hello', true), key)).status).toBe(200);
    const messages = (await harness.eventsOf('MessageEvent')).filter((event) => event.source === 'user');
    expect(messages.map((event) => event.id)).toEqual(['5a2e0a5e-2f51-4f39-9f35-1c0f0e8f1a01']);
    expect(harness.llm.requests).toHaveLength(1);
    const bad = await harness.at('POST /events', userMessage('x', false), { 'idempotency-key': 'no-uuid' });
    expect(bad.status).toBe(422);
  });

  it('takes one more step for a message that comes while it finishes', async () => {
    const harness = await Harness.start();
    harness.llm.script([
      async () => {
        await harness.at('POST /events', userMessage('and another thing', true));
        expect((await harness.at('POST /run')).status).toBe(409);
        return reply('first');
      },
      reply('second'),
    ]);
    await harness.run('go');
    await harness.reaches('finished');
    expect((await harness.at('GET /agent_final_response')).body).toEqual({ response: 'second' });
    const users = harness.llm.requests[1]?.body.messages.filter((message) => message.role === 'user');
    expect(users?.map((message) => message.content)).toEqual(['go', 'and another thing']);
  });

  it('finishes its step before a pause', async () => {
    const harness = await Harness.start();
    harness.llm.script([
      async () => {
        await harness.at('POST /pause');
        return toolCalls(['terminal', { command: 'echo done > step.txt' }]);
      },
      reply('end'),
    ]);
    await harness.run('go');
    await harness.reaches('paused');
    expect(readFileSync(join(harness.workspace, 'step.txt'), 'utf8')).toBe('done\n');
    expect(await harness.eventsOf('PauseEvent')).toHaveLength(1);
    await harness.at('POST /run');
    await harness.reaches('finished');
  });

  it('is interrupted in a command and in a model call', async () => {
    const harness = await Harness.start();
    harness.llm.script([
      toolCalls(
        ['terminal', { command: 'echo began; touch began; sleep 60' }],
        ['terminal', { command: 'echo never' }],
      ),
      () => new Promise(() => undefined),
      reply('end'),
    ]);
    await harness.run('go');
    await expect
      .poll(() => harness.at('GET /events/count?kind=ActionEvent').then((answer) => answer.body))
      .toBe(2);
    await expect
      .poll(() =>
        harness
          .call('POST /api/bash/execute_bash_command', { json: { command: 'test -e began' } })
          .then((a) => a.body['exit_code']),
      )
      .toBe(0);
    await harness.at('POST /interrupt');
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'paused' });
    expect(await harness.eventsOf('AgentErrorEvent')).toHaveLength(1);
    const [observation] = await harness.eventsOf('ObservationEvent');
    expect(observation?.['observation']).toMatchObject({ content: [{ text: 'began' }], exit_code: 130 });

    await harness.at('POST /run');
    await expect.poll(() => harness.llm.requests.length).toBe(2);
    expect((await harness.call('GET /server_info')).body).toMatchObject({ idle_time: 0 });
    await harness.at('POST /interrupt');
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'paused' });
    expect(await harness.eventsOf('InterruptEvent')).toHaveLength(2);
    await harness.at('POST /run');
    await harness.reaches('finished');
  });

  it('is searched, changed and deleted', async () => {
    const harness = await Harness.start();
    await harness.call('POST /api/conversations', { json: harness.startBody() });
    await harness.call('POST /api/conversations', { json: harness.startBody({ conversation_id: null }) });
    const page = await harness.call<{ items: { id: string }[]; next_page_id: string }>(
      'GET /api/conversations/search?limit=1&sort_order=CREATED_AT',
    );
    expect(page.body.items.map((item) => item.id)).toEqual([CONVERSATION_ID]);
    const rest = await harness.call<{ items: unknown[]; next_page_id: null }>(
      `GET /api/conversations/search?page_id=${page.body.next_page_id}&status=IDLE&sort_order=CREATED_AT`,
    );
    expect(rest.body).toMatchObject({ items: [{ id: page.body.next_page_id }], next_page_id: null });
    expect((await harness.at('PATCH ', { title: ' T ', tags: { a: 'b' } })).body).toEqual({ success: true });
    expect((await harness.at('PATCH ', { tags: { 'No-Good': 'b' } })).status).toBe(422);
    const many = await harness.call<unknown[]>(`GET /api/conversations?ids=${HEX_ID}&ids=unknown`);
    expect(many.body).toMatchObject([{ title: 'T', tags: { a: 'b' } }, null]);
    expect((await harness.at('DELETE ')).status).toBe(200);
    expect((await harness.at('DELETE ')).status).toBe(404);
    expect((await harness.call('GET /api/conversations/count')).body).toBe(1);
  });
});
