// The wire: who may call, what is answered, streamed or not, and every error in the one envelope.

import { describe, expect, it } from 'vitest';

import { chat, get, sampleScript, startGateway, user } from './gateway-fixture.ts';
import { reassemble } from './reassemble.ts';

const fixIt = { model: 'vendor/small', messages: [user('fix the bug')] };
const errorOf = async (response: Response): Promise<Record<string, unknown>> =>
  ((await response.json()) as { error: Record<string, unknown> }).error;

describe('POST /v1/chat/completions', () => {
  it('answers with the turn, its price and a billed row', async () => {
    const { url, ledger } = await startGateway();
    const response = await chat(url, fixIt);
    const usage = { prompt_tokens: 11, completion_tokens: 8, total_tokens: 19 };
    expect(response.headers.get('x-scripted-response-cost')).toBe('0.00000645');
    expect(await response.json()).toEqual({
      id: 'chatcmpl-id1',
      object: 'chat.completion',
      created: 1767323045,
      model: 'vendor/small',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Looking.',
            tool_calls: [
              {
                id: 'call_fix_0_0',
                type: 'function',
                function: { name: 'terminal', arguments: '{"command":"ls"}' },
              },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage,
    });
    expect(ledger.rows()).toEqual([
      {
        request_id: 'chatcmpl-id1',
        time_start: '2026-01-02T03:04:05.006Z',
        time_end: '2026-01-02T03:04:05.006Z',
        model: 'vendor/small',
        api_key_name: 'root',
        tags: [],
        session_id: null,
        metadata: null,
        user: null,
        prompt_tokens: 11,
        completion_tokens: 8,
        cost_usd: '0.00000645',
        status: 'success',
      },
    ]);
  });

  it('streams the same answer', async () => {
    const { url } = await startGateway();
    for (const includeUsage of [true, false]) {
      const body = { ...fixIt, stream: true, stream_options: { include_usage: includeUsage } };
      const response = await chat(url, body);
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      expect(response.headers.get('x-scripted-response-cost')).toBe('0.00000645');
      const { id, usage, ...streamed } = reassemble(await response.text()) as Record<string, unknown>;
      const whole = (await (await chat(url, fixIt)).json()) as Record<string, unknown>;
      expect(streamed).toEqual({ ...whole, id: undefined, usage: undefined });
      expect(usage).toEqual(includeUsage ? whole['usage'] : undefined);
      expect(id).not.toBe(whole['id']);
    }
  });

  it('answers an error once for each session, bills nothing for it, and goes on', async () => {
    const { url, ledger } = await startGateway();
    const messages = [user('fix the bug'), { role: 'tool', tool_call_id: 'call_fix_0_0', content: 'a.txt' }];
    for (const session of ['one', 'two', null]) {
      const headers: Record<string, string> = session === null ? {} : { 'x-vendor-session-id': session };
      const refused = await chat(url, { ...fixIt, messages }, { headers });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
      expect(await errorOf(refused)).toEqual({
        message: 'slow down',
        type: 'rate_limit_error',
        param: null,
        code: '429',
      });
      const answered = await chat(url, { ...fixIt, messages }, { headers });
      const body = (await answered.json()) as { choices: { message: { tool_calls: { id: string }[] } }[] };
      expect(body.choices[0]?.message.tool_calls.map((call) => call.id)).toEqual([
        'call_fix_2_0',
        'call_fix_2_1',
      ]);
    }
    expect(ledger.rows().map((row) => row.cost_usd)).toEqual(['0.000156', '0.000156', '0.000156']);
  });

  it('records session, tags, metadata and user, and bears with headers it cannot read', async () => {
    const { url, ledger } = await startGateway();
    const spend = (text: string) => ({ headers: { 'x-vendor-spend-logs-metadata': text } });
    await chat(
      url,
      { ...fixIt, user: 'u1' },
      {
        key: 'sk-team',
        headers: {
          'x-vendor-session-id': 's-1',
          'x-vendor-tags': 'shared, green,,',
          'x-vendor-spend-logs-metadata': '{"a":{"b":1}}',
        },
      },
    );
    await chat(url, fixIt, spend('[1]'));
    await chat(url, fixIt, spend('{'));
    const [row, ...others] = ledger.rows();
    expect([row?.session_id, row?.tags, row?.metadata, row?.user]).toEqual([
      's-1',
      ['blue', 'shared', 'green'],
      { a: { b: 1 } },
      'u1',
    ]);
    expect(others.map((one) => one.metadata)).toEqual([null, null]);
  });

  it('waits as long as the turn or the script says', async () => {
    const waits: number[] = [];
    const text = sampleScript
      .replace('scripts:', 'latency_ms: 40\nscripts:')
      .replace('say: Hello.', 'say: Hi\n        latency_ms: 7');
    const { url } = await startGateway(text, {
      sleep: (delayMs) => {
        waits.push(delayMs);
        return Promise.resolve();
      },
    });
    await chat(url, fixIt);
    await chat(url, { ...fixIt, messages: [user('hello')] });
    expect(waits).toEqual([40, 7]);
  });

  it('waits before each piece of a streamed answer, and not for one that comes whole', async () => {
    const waits: number[] = [];
    const { url } = await startGateway(
      sampleScript.replace('say: Hello.', 'say: Hello there.\n        piece_ms: 9'),
      {
        sleep: (delayMs) => {
          waits.push(delayMs);
          return Promise.resolve();
        },
      },
    );
    await chat(url, { ...fixIt, messages: [user('hello')] });
    const before = waits.length;
    const answer = await chat(url, { ...fixIt, messages: [user('hello')], stream: true });
    expect([answer.status, before, waits.slice(before + 1)]).toEqual([200, 1, [9, 9, 9, 9, 9]]);
  });

  it('bills nothing when the client leaves while it waits, and gives the error again', async () => {
    const errors = sampleScript.replace('- say: Hello.', '- status: 500');
    let isWaiting = (): void => undefined;
    let hasLeft = (): void => undefined;
    const { url, ledger } = await startGateway(errors, {
      sleep: (_delayMs, signal) => {
        if (isWaiting === passed) return Promise.resolve();
        isWaiting();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('left'));
            hasLeft();
          });
        });
      },
    });
    const leave = async (content: string): Promise<void> => {
      const leaving = new AbortController();
      const left = new Promise<void>((resolve) => (hasLeft = resolve));
      isWaiting = () => leaving.abort();
      await chat(url, { ...fixIt, messages: [user(content)] }, { signal: leaving.signal }).catch(
        () => undefined,
      );
      await left;
    };
    await leave('fix the bug');
    await leave('hello');
    expect(ledger.rows()).toEqual([]);
    isWaiting = passed;
    expect((await chat(url, { ...fixIt, messages: [user('hello')] })).status).toBe(500);
    expect((await chat(url, { ...fixIt, messages: [user('hello')] })).status).toBe(200);
  });

  it('does not answer what it cannot bill', async () => {
    const ledger = {
      append: () => Promise.reject(new Error('Cannot bill call: the disk is full')),
      rows: () => [],
      close: () => Promise.resolve(),
    };
    const { url } = await startGateway(sampleScript, { ledger });
    const response = await chat(url, fixIt);
    expect([response.status, (await errorOf(response))['message']]).toEqual([
      503,
      'Cannot bill call: the disk is full',
    ]);
  });
});

function passed(): void {}

describe('refusals', () => {
  const post = (body: unknown, key = 'sk-admin') => ({ body, key });
  const cases: readonly (readonly [
    string,
    { body: unknown; key: string },
    number,
    string,
    string | null,
    string,
  ])[] = [
    ['malformed JSON', post('{'), 400, 'invalid_request_error', 'request_body', 'JSON'],
    ['no body', post(''), 400, 'invalid_request_error', 'request_body', 'empty'],
    ['no object', post('[]'), 400, 'invalid_request_error', 'request_body', 'expected object'],
    ['no model', post({ messages: [user('x')] }), 400, 'invalid_request_error', 'model', 'model'],
    ['no messages', post({ model: 'vendor/small' }), 400, 'invalid_request_error', 'messages', 'messages'],
    [
      'empty messages',
      post({ model: 'vendor/small', messages: [] }),
      400,
      'invalid_request_error',
      'messages',
      'messages',
    ],
    ['an unknown model', post({ ...fixIt, model: 'tiny' }), 400, 'invalid_request_error', 'model', '"tiny"'],
    [
      'a model of others',
      post({ ...fixIt, model: 'vendor/large' }, 'sk-team'),
      403,
      'key_model_access_denied',
      'model',
      '"vendor/large"',
    ],
    ['a bad key before a bad body', post('{', 'sk-bad'), 401, 'authentication_error', null, 'not known'],
  ];
  it.each(cases)('%s', async (_name, { body, key }, status, type, param, words) => {
    const { url, ledger } = await startGateway();
    const response = await chat(url, body, { key });
    const error = await errorOf(response);
    expect([response.status, error['type'], error['param'], error['code']]).toEqual([
      status,
      type,
      param,
      String(status),
    ]);
    expect(error['message']).toContain(words);
    expect(ledger.rows()).toEqual([]);
  });

  it('a conversation that no script fits', async () => {
    const { url } = await startGateway(sampleScript.slice(0, sampleScript.indexOf('  - name: other')));
    const response = await chat(url, { ...fixIt, messages: [user('hello')] });
    expect([response.status, (await errorOf(response))['param']]).toEqual([400, 'messages']);
  });

  it('unknown routes and methods, in JSON and without a key', async () => {
    const { url } = await startGateway();
    for (const [method, path] of [
      ['GET', '/nope?key=secret'],
      ['DELETE', '/v1/models'],
      ['GET', '/%'],
    ] as const) {
      const response = await fetch(url + path, { method });
      expect(response.headers.get('content-type')).toContain('application/json');
      const text = await response.text();
      expect([response.status, JSON.parse(text)]).toEqual([
        path === '/%' ? 400 : 404,
        { error: expect.objectContaining({ type: 'invalid_request_error' }) as unknown },
      ]);
      expect(text).not.toContain('secret');
    }
  });
});

describe('authorization', () => {
  const routes = ['/v1/models', '/models', '/spend/export', '/spend/total'];
  const refused: readonly (string | null)[] = [
    null,
    '',
    'Bearer',
    'Bearer ',
    'Bearer sk-bad',
    'Basic sk-admin',
    'sk-admin',
    'Bearer sk-admin x',
  ];

  it.each(routes)('GET %s wants a key', async (route) => {
    const { url } = await startGateway();
    for (const authorization of refused) {
      const response = await fetch(url + route, { headers: authorization === null ? {} : { authorization } });
      expect([authorization, response.status]).toEqual([authorization, 401]);
      expect((await errorOf(response))['type']).toBe('authentication_error');
    }
    for (const authorization of ['Bearer sk-admin', 'bearer sk-free', 'Bearer  sk-team']) {
      expect((await fetch(url + route, { headers: { authorization } })).status).toBe(200);
    }
  });

  it.each(['/v1/chat/completions', '/chat/completions'])('POST %s wants a key', async (route) => {
    const { url } = await startGateway();
    const send = (headers: Record<string, string>) =>
      fetch(url + route, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(fixIt),
      });
    for (const authorization of refused) {
      expect((await send(authorization === null ? {} : { authorization })).status).toBe(401);
    }
    expect((await send({ authorization: 'Bearer sk-team' })).status).toBe(200);
  });

  it('lists the models a key may use, in the order of the script', async () => {
    const { url } = await startGateway();
    const idsFor = async (key: string) =>
      ((await (await get(url, '/v1/models', key)).json()) as { data: { id: string }[] }).data.map(
        ({ id }) => id,
      );
    expect(await idsFor('sk-free')).toEqual(['vendor/small', 'vendor/large']);
    expect(await idsFor('sk-team')).toEqual(['vendor/small']);
  });

  it.each(['/health', '/health/liveliness', '/health/liveness', '/health/readiness'])(
    'GET %s wants none',
    async (route) => {
      const { url } = await startGateway();
      expect(await (await fetch(url + route)).json()).toEqual({ status: 'ok' });
    },
  );
});
