/** Every other way a run ends: held, stuck, out of steps, refused, limited, unreachable. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { Harness, userMessage } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';
import type { ScriptStep } from './openai-stub.ts';

const RISKY = { kind: 'ConfirmRisky', threshold: 'MEDIUM', confirm_unknown: true };

function touch(name: string, risk?: string): readonly [string, unknown] {
  return ['terminal', { command: `touch ${name}`, ...(risk === undefined ? {} : { security_risk: risk }) }];
}

describe('confirmation', () => {
  it('holds all actions of an answer until they are accepted', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(touch('a'), touch('b')), reply('end')]);
    await harness.run('go', { confirmation_policy: { kind: 'AlwaysConfirm' } });
    await harness.reaches('waiting_for_confirmation');
    await harness.at('POST /run', { approve_pending: false });
    await harness.at('POST /events', userMessage('are you there?', true));
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'waiting_for_confirmation' });
    expect(existsSync(join(harness.workspace, 'a'))).toBe(false);
    await harness.at('POST /events/respond_to_confirmation', { accept: true });
    await harness.reaches('finished');
    expect(existsSync(join(harness.workspace, 'b'))).toBe(true);
    const roles = harness.llm.requests[1]?.body.messages.map((message) => message.role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user']);
  });

  it('takes a bare run for acceptance, as clients of the reference mean it', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(touch('a')), reply('end')]);
    await harness.run('go', { confirmation_policy: { kind: 'AlwaysConfirm' } });
    await harness.reaches('waiting_for_confirmation');
    await harness.at('POST /run');
    await harness.reaches('finished');
    expect(existsSync(join(harness.workspace, 'a'))).toBe(true);
  });

  it('tells the model of a rejection', async () => {
    const harness = await Harness.start();
    harness.llm.script([toolCalls(touch('a')), reply('as you wish')]);
    await harness.run('go', { confirmation_policy: { kind: 'AlwaysConfirm' } });
    await harness.reaches('waiting_for_confirmation');
    await harness.at('POST /events/respond_to_confirmation', { accept: false, reason: 'not now' });
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'idle' });
    await harness.at('POST /run');
    await harness.reaches('finished');
    expect(harness.llm.requests[1]?.body.messages[3]?.content).toContain('not now');
    expect(existsSync(join(harness.workspace, 'a'))).toBe(false);
  });

  it('asks about risk by threshold, and a policy can change', async () => {
    const harness = await Harness.start();
    harness.llm.script([
      toolCalls(touch('low', 'LOW')),
      toolCalls(touch('medium', 'MEDIUM')),
      toolCalls(touch('unknown')),
      toolCalls(['finish', { message: 'end' }]),
    ]);
    await harness.run('go', { confirmation_policy: RISKY });
    await harness.reaches('waiting_for_confirmation');
    expect(existsSync(join(harness.workspace, 'low'))).toBe(true);
    await harness.at('POST /events/respond_to_confirmation', { accept: true });
    await expect.poll(() => existsSync(join(harness.workspace, 'medium'))).toBe(true);
    await harness.reaches('waiting_for_confirmation');
    await harness.at('POST /confirmation_policy', { policy: { kind: 'NeverConfirm' } });
    await harness.at('POST /events/respond_to_confirmation', { accept: true });
    await harness.reaches('finished');
  });
});

describe('a run that does not finish', () => {
  it.each<[string, readonly ScriptStep[]]>([
    ['the same action with the same result', [() => toolCalls(['terminal', { command: 'echo same' }])]],
    [
      'the same failing action',
      [() => toolCalls(['file_editor', { command: 'view', path: '/no/such/file' }])],
    ],
    ['the same malformed call', [() => toolCalls(['terminal', 'no json'])]],
  ])('is stuck at %s', async (_name, steps) => {
    const harness = await Harness.start();
    harness.llm.script(steps, { forever: true });
    await harness.run('go');
    await harness.reaches('stuck');
    expect(harness.llm.requests.length).toBeLessThanOrEqual(4);
    harness.llm.script([reply('free again')]);
    await harness.at('POST /run');
    await harness.reaches('finished');
  });

  it('is stuck when two actions alternate', async () => {
    const harness = await Harness.start();
    const pair = [0, 1, 2].flatMap((): ScriptStep[] => [
      () => toolCalls(['terminal', { command: 'echo a' }]),
      () => toolCalls(['terminal', { command: 'echo b' }]),
    ]);
    harness.llm.script([...pair, reply('not reached')]);
    await harness.run('go');
    await harness.reaches('stuck');
    expect(harness.llm.requests).toHaveLength(6);
  });

  it('ends in error at its step limit', async () => {
    const harness = await Harness.start();
    let step = 0;
    harness.llm.script([() => toolCalls(['terminal', { command: `echo ${(step += 1)}` }])], {
      forever: true,
    });
    await harness.run('go', { max_iterations: 3 });
    await harness.reaches('error');
    expect(harness.llm.requests).toHaveLength(3);
    expect(await harness.eventsOf('ConversationErrorEvent')).toMatchObject([
      { code: 'MaxIterationsReached' },
    ]);
  });

  it('tells the model of malformed arguments and unknown tools', async () => {
    const harness = await Harness.start();
    harness.llm.script([
      toolCalls(
        ['terminal', '{"command": '],
        ['no_such_tool', {}],
        ['terminal', { command: 7 }],
        ['terminal', { command: 'echo fine' }],
      ),
      reply('end'),
    ]);
    await harness.run('go');
    await harness.reaches('finished');
    const results = harness.llm.requests[1]?.body.messages.filter((message) => message.role === 'tool');
    expect(results?.map((message) => String(message.content).split('\n')[0])).toEqual([
      'Error: Cannot call tool "terminal": arguments are no JSON object: {"command": ',
      expect.stringContaining('there is none of that name'),
      expect.stringContaining('command: Invalid input'),
      'fine',
    ]);
    const calls = harness.llm.requests[1]?.body.messages[2]?.tool_calls ?? [];
    expect(calls.map((call) => JSON.parse(call.function.arguments) as unknown)[0]).toEqual({});
  });
});

describe('a model endpoint in trouble', () => {
  it.each([
    [400, 'LLMBadRequestError', 'config'],
    [401, 'LLMAuthenticationError', 'auth'],
    [404, 'LLMNotFoundError', 'config'],
  ])('ends the run in error at status %i', async (status, code, kind) => {
    const harness = await Harness.start();
    harness.llm.script([{ status, json: { error: { message: 'no way' } } }]);
    await harness.run('go');
    await harness.reaches('error');
    const [error] = await harness.eventsOf('ConversationErrorEvent');
    expect(error).toMatchObject({ code, classification: { kind } });
    expect(error?.['detail']).toContain('no way');
    expect(harness.llm.requests).toHaveLength(1);
  });

  it('pauses after its retries of 429, and goes on at the next message', async () => {
    const harness = await Harness.start();
    const limited = {
      status: 429,
      headers: { 'retry-after': '0' },
      json: { error: { message: 'slow down' } },
    };
    harness.llm.script([limited], { forever: true });
    await harness.run('go');
    const info = await harness.reaches('paused');
    expect(info['agent_state']).toMatchObject({ paused_reason: 'rate_limit' });
    expect(harness.llm.requests).toHaveLength(6);
    expect(await harness.eventsOf('ConversationErrorEvent')).toMatchObject([
      { code: 'LLMRateLimitError', classification: { kind: 'rate_limit' } },
    ]);
    harness.llm.script([reply('end')]);
    await harness.at('POST /events', userMessage('go on', true));
    expect((await harness.reaches('finished'))['agent_state']).toEqual({});
  });

  it('pauses at once when the endpoint wants a long wait', async () => {
    const harness = await Harness.start();
    harness.llm.script([{ status: 429, headers: { 'retry-after': '3600' }, json: {} }]);
    await harness.run('go');
    const info = await harness.reaches('paused');
    expect(info['agent_state']).toMatchObject({ retry_at: expect.stringMatching(/Z$/) });
  });

  it('waits for an endpoint that is down and comes back', async () => {
    const harness = await Harness.start();
    harness.llm.script([{ status: 503, json: 'busy' }, toolCalls(['think', { thought: 'x' }]), reply('end')]);
    await harness.llm.close();
    await harness.run('go');
    await expect
      .poll(() => harness.logLines.filter((text) => text.includes('tried again')).length)
      .toBeGreaterThan(1);
    expect((await harness.at('GET ')).body).toMatchObject({ execution_status: 'running' });
    await harness.llm.listen();
    await harness.reaches('finished');
  });

  it('tells every failed try while it lasts, and its end', async () => {
    const harness = await Harness.start();
    harness.llm.script([{ status: 503, json: { error: { message: 'overloaded' } } }, reply('end')]);
    await harness.run('go');
    await harness.reaches('finished');
    const updates = await harness.eventsOf('ConversationStateUpdateEvent');
    expect(
      updates.filter((event) => event['key'] === 'model_trouble').map((event) => event['value']),
    ).toEqual([{ cause: 'Cannot complete chat: status 503: overloaded', tries: 1, wait_ms: 500 }, null]);
  });

  it.each([
    [429, { code: 'insufficient_quota', type: 'insufficient_quota' }, 'LLMQuotaError'],
    [429, { code: null, type: 'insufficient_quota' }, 'LLMQuotaError'],
    [502, { code: 'gateway_host_unknown', type: 'server_error' }, 'LLMNotFoundError'],
  ])('asks once after %i %j, which will not change by itself', async (status, error, code) => {
    const harness = await Harness.start();
    harness.llm.script([{ status, json: { error: { message: 'no', ...error } } }], { forever: true });
    await harness.run('go');
    await harness.reaches('error');
    expect(harness.llm.requests.length).toBe(1);
    expect(await harness.eventsOf('ConversationErrorEvent')).toMatchObject([
      { code, classification: { retryable: false } },
    ]);
  });

  it('gives up when the endpoint stays away past the window', async () => {
    const harness = await Harness.start();
    await harness.llm.close();
    await harness.run('go', {}, { retry_window_s: 0.2 });
    await harness.reaches('error');
    expect(await harness.eventsOf('ConversationErrorEvent')).toMatchObject([
      { code: 'LLMServiceUnavailableError', classification: { kind: 'transient', retryable: true } },
    ]);
  });
});

describe('a long conversation', () => {
  it('forgets whole old steps and keeps the first message', async () => {
    const harness = await Harness.start();
    let step = 0;
    const steps: ScriptStep[] = Array.from({ length: 12 }, () => () => {
      step += 1;
      return toolCalls(['terminal', { command: `echo step ${step}; head -c 9000 /dev/zero | tr '\\0' x` }]);
    });
    harness.llm.script([...steps, reply('end')]);
    await harness.run('the first message', {}, { max_input_tokens: 20_000 });
    await harness.reaches('finished');
    const condensations = await harness.eventsOf('Condensation');
    expect(condensations.length).toBeGreaterThan(0);
    const messages = harness.llm.requests.at(-1)?.body.messages ?? [];
    expect(messages[1]?.content).toBe('the first message');
    expect(JSON.stringify(messages).length).toBeLessThan(20_000 * 4);
    const calls = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.id);
    const results = messages.flatMap((message) => message.tool_call_id ?? []);
    expect(results).toEqual(calls);
  });
});
