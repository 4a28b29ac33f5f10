/** Partial events: words of the model and output of a command, only for clients that request them. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

import { acpHarness } from './acp/acp-harness.ts';
import { CONVERSATION_ID, Harness, PATIENT, SESSION_KEY } from './harness.ts';
import { reply, toolCalls } from './openai-stub.ts';
import type { ChatAnswer } from './openai-stub.ts';

const SECRET = 'partial-secret-9921';

interface Frame {
  readonly kind: string;
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly llm_response_id?: string;
  readonly action_id?: string;
}

async function listen(harness: Harness, query = '?partials=only'): Promise<Frame[]> {
  const address = `ws+unix://${harness.socketPath}:/sockets/events/${CONVERSATION_ID}${query}`;
  const socket = new WebSocket(address, { headers: { 'x-session-api-key': SESSION_KEY } });
  onTestFinished(() => socket.terminate());
  const frames: Frame[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString('utf8')) as Frame));
  await new Promise((resolve) => socket.once('open', resolve));
  // A client that has the answer to a ping receives partial events.
  await new Promise((resolve) => {
    socket.once('pong', resolve);
    socket.ping();
  });
  return frames;
}

async function started(llm: Record<string, unknown> = {}): Promise<Harness> {
  const harness = await Harness.start();
  await harness.call('POST /api/conversations', {
    json: harness.startBody({ secrets: { TOKEN: SECRET } }, llm),
  });
  return harness;
}

const say = (harness: Harness): Promise<unknown> =>
  harness.at('POST /events', { role: 'user', content: [{ type: 'text', text: 'go' }], run: true });

const frame = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'stream-1', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const END = `data: ${JSON.stringify({ id: 'stream-1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: ${JSON.stringify({ id: 'stream-1', choices: [], usage: { prompt_tokens: 70, completion_tokens: 9, cost: 0.125 } })}\n\ndata: [DONE]\n\n`;

/** Waits for `seen` between its pieces. */
function streamed(pieces: readonly (string | Buffer | (() => Promise<unknown>))[]): ChatAnswer {
  async function* all(): AsyncGenerator<string | Buffer> {
    for (const piece of pieces) {
      if (typeof piece === 'function') await piece();
      else yield piece;
    }
  }
  return { json: null, stream: all() };
}

const wordsOf = (frames: readonly Frame[]): string => frames.map(({ content }) => content ?? '').join('');
const until = (frames: readonly Frame[], text: string) => async (): Promise<void> => {
  await expect.poll(() => wordsOf(frames), PATIENT).toContain(text);
};

describe('words of the model', () => {
  it('are told before the event is there, masked across pieces, and counted to the token', async () => {
    const harness = await started();
    const frames = await listen(harness);
    const early: string[] = [];
    harness.llm.script([
      streamed([
        ': a comment\r\n\r\n',
        frame({ role: 'assistant', reasoning_content: 'I think.' }),
        frame({ content: `Here is parti` }),
        until(frames, 'Here is '),
        frame({ content: `al-secret-99` }),
        frame({ content: `21, and ` }),
        until(frames, ', and '),
        async () => void early.push(...(await harness.eventsOf('MessageEvent')).map(({ source }) => source)),
        Buffer.from(frame({ content: 'é<b>' })).subarray(0, 60),
        Buffer.from(frame({ content: 'é<b>' })).subarray(60),
        END,
      ]),
    ]);
    await say(harness);
    const info = await harness.reaches('finished');
    expect(early).toEqual(['user']);
    expect(harness.llm.requests[0]?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    const [, message] = await harness.eventsOf('MessageEvent');
    expect(message).toMatchObject({
      llm_response_id: 'stream-1',
      llm_message: {
        content: [{ text: 'Here is <secret-hidden>, and é<b>' }],
        reasoning_content: 'I think.',
      },
    });
    expect(frames.every(({ kind }) => kind === 'StreamingDeltaEvent')).toBe(true);
    expect(new Set(frames.map((one) => one.llm_response_id))).toEqual(new Set(['stream-1']));
    expect(frames.map((one) => one.reasoning_content ?? '').join('')).toBe('I think.');
    expect(wordsOf(frames)).toContain('Here is <secret-hidden>, and ');
    expect(JSON.stringify(info['stats'])).toContain('"prompt_tokens":70');
    expect(JSON.stringify(info['stats'])).toContain('"accumulated_cost":0.125');
    // Nothing of it is kept.
    expect((await harness.events()).filter(({ kind }) => kind.startsWith('Streaming'))).toEqual([]);
  });

  it('put tool calls together from their pieces', async () => {
    const harness = await started();
    await listen(harness);
    harness.llm.script([
      streamed([
        frame({ tool_calls: [{ index: 0, id: 'a', function: { name: 'think', arguments: '' } }] }),
        frame({ tool_calls: [{ index: 0, function: { arguments: '{"thought":' } }] }),
        frame({ tool_calls: [{ index: 0, function: { arguments: '"one"}' } }] }),
        // As from endpoints that send no index.
        frame({ tool_calls: [{ id: 'b', function: { name: 'think', arguments: '{"thought":"two"}' } }] }),
        END,
      ]),
      streamed([frame({ content: 'Done.' }), END]),
    ]);
    await say(harness);
    await harness.reaches('finished');
    const actions = await harness.eventsOf('ActionEvent');
    expect(actions.map((event) => event['action'])).toMatchObject([{ thought: 'one' }, { thought: 'two' }]);
  });

  it.each([
    ['an endpoint that answers whole all the same', [reply('Whole.')], 1],
    [
      'one that refuses to stream, once for all',
      [
        { status: 400, json: { error: { message: 'stream is not supported by this model' } } },
        toolCalls(['think', { thought: 'x' }]),
        reply('Whole.'),
      ],
      3,
    ],
    [
      'one that cuts its stream, or breaks off with an error',
      [
        streamed([frame({ content: 'Wh' })]),
        streamed([frame({ content: 'Who' }), 'data: {"error":{"message":"down","code":503}}\n\n']),
        streamed([frame({ content: 'Whole.' }), END]),
      ],
      3,
    ],
  ])('work with %s', async (_what, steps, calls) => {
    const harness = await started();
    await listen(harness);
    harness.llm.script(steps);
    await say(harness);
    await harness.reaches('finished');
    const [, message] = await harness.eventsOf('MessageEvent');
    expect(JSON.stringify(message)).toContain('"Whole."');
    expect(harness.llm.requests).toHaveLength(calls);
    expect(harness.llm.requests.map(({ body }) => body.stream === true).slice(1)).toEqual(
      calls === 3 ? [steps.length === 3 && 'stream' in (steps[1] ?? {}), 'stream' in (steps[2] ?? {})] : [],
    );
  });

  it('are not asked for while nobody listens for them', async () => {
    const harness = await started();
    await listen(harness, '');
    harness.llm.script([reply('Whole.')]);
    await say(harness);
    await harness.reaches('finished');
    expect(harness.llm.requests[0]?.body).not.toHaveProperty('stream');
  });

  it('reach every listener where the settings of the model ask for a stream', async () => {
    const harness = await started({ stream: true });
    const frames = await listen(harness, '');
    harness.llm.script([streamed([frame({ content: 'Slowly.' }), until(frames, 'Slowly.'), END])]);
    await say(harness);
    await harness.reaches('finished');
    expect(frames.filter(({ kind }) => kind === 'StreamingDeltaEvent')).toMatchObject([
      { content: 'Slowly.' },
    ]);
  });
});

describe('output of a command', () => {
  it('is told while it runs, to the byte masked, and not in the next command', async () => {
    const harness = await started();
    const frames = await listen(harness);
    const command = `echo first; printf 'partial-sec'; until [ -e go ]; do sleep 0.05; done; echo 'ret-9921 <i>last</i>'`;
    harness.llm.script([
      toolCalls(['terminal', { command }]),
      toolCalls(['terminal', { command: 'echo second' }]),
      reply('Done.'),
    ]);
    await say(harness);
    await until(frames, 'first\n')();
    expect(await harness.eventsOf('ObservationEvent')).toEqual([]);
    const [action] = await harness.eventsOf('ActionEvent');
    await harness.call('POST /api/bash/execute_bash_command', {
      json: { command: 'touch go', cwd: harness.workspace },
    });
    await harness.reaches('finished');
    const mine = frames.filter((one) => one.action_id === action?.id);
    expect(mine.length).toBeGreaterThan(0);
    expect(mine.every(({ kind }) => kind === 'StreamingOutputEvent')).toBe(true);
    expect(JSON.stringify(frames)).not.toMatch(/partial-sec|ret-9921/);
    expect(JSON.stringify(mine)).not.toContain('second');
    expect((await harness.events()).filter(({ kind }) => kind.startsWith('Streaming'))).toEqual([]);
  });
});

describe('chunks of an agent of the Agent Client Protocol', () => {
  it('are told as they come, under the id of their event', async () => {
    const { harness, start, send } = await acpHarness();
    const chunk = (kind: string, text: string): Record<string, unknown> => ({
      update: { sessionUpdate: kind, content: { type: 'text', text } },
    });
    await start([{ stop: 'end_turn' }]);
    await harness.reaches('finished');
    const frames = await listen(harness);
    await send([
      chunk('agent_thought_chunk', 'Hm.'),
      chunk('agent_message_chunk', 'Slow '),
      { pause: 600 },
      chunk('agent_message_chunk', 'words.'),
      { stop: 'end_turn' },
    ]);
    await until(frames, 'Slow ')();
    await expect.poll(() => harness.eventsOf('MessageEvent').then((all) => all.length), PATIENT).toBe(3);
    const message = (await harness.eventsOf('MessageEvent')).at(-1);
    expect(JSON.stringify(message)).toContain('Slow words.');
    expect(new Set(frames.map((one) => one.llm_response_id))).toEqual(
      new Set([message?.['llm_response_id']]),
    );
  });
});
