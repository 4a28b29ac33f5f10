/** Usage as vendors send it: texts for numbers, totals alone, split or growing frames, cached tokens beside the input. */
import { describe, expect, it } from 'vitest';
import { joinUsage, readUsage } from '../../proxy/spend/usage.ts';
import { send, startProxy, STREAM_BODY } from './proxy-under-test.ts';
import { answerJson, answerStream, CONTENT_FRAMES, DONE_FRAME, startStubGateway } from './stub-gateway.ts';

describe('readUsage()', () => {
  it.each([
    ['texts for numbers', { prompt_tokens: '10', completion_tokens: '3' }, [10, 3]],
    ['a total alone', { total_tokens: 13 }, [13, null]],
    ['thoughts in the total alone', { prompt_tokens: 10, completion_tokens: 3, total_tokens: 20 }, [10, 10]],
    [
      'cached tokens beside the input',
      { input_tokens: 5, output_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20 },
      [125, 3],
    ],
    ['no counts', { prompt_tokens: -1, completion_tokens: '1e3' }, [null, null]],
  ])('reads %s', (_, usage, expected) => {
    const read = readUsage(usage);
    expect([read?.promptTokens, read?.completionTokens]).toEqual(expected);
  });

  it('joins what comes in several frames, growing or split', () => {
    const frames = [
      { prompt_tokens: 10, completion_tokens: 0 },
      { prompt_tokens: 0, completion_tokens: 5 },
      { completion_tokens: 8, completion_tokens_details: { reasoning_tokens: 2 } },
    ].map((frame) => readUsage(frame));
    const joined = frames.reduce((before, now) => (now === null ? before : joinUsage(before, now)), null);
    expect(joined).toMatchObject({ promptTokens: 10, completionTokens: 8, reasoningTokens: 2 });
  });
});

describe('usage that stands elsewhere than at the top', () => {
  /** As Groq and Moonshot end a stream, with cached and reasoning tokens where they say them. */
  const GROQ = {
    prompt_tokens: 20,
    completion_tokens: 5,
    total_tokens: 25,
    queue_time: 0.01,
    prompt_tokens_details: { cached_tokens: 12 },
    completion_tokens_details: { reasoning_tokens: 3 },
  };
  const MOONSHOT = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25, cached_tokens: 12 };
  const choice = { index: 0, delta: {}, finish_reason: 'stop' };
  const message = { role: 'assistant', content: 'hi' };

  it.each([
    ['x_groq', { choices: [choice], x_groq: { id: 'req_1', usage: GROQ } }, [20, 5, 12, 3]],
    ['both', { choices: [choice], x_groq: { id: 'req_1', usage: GROQ }, usage: GROQ }, [20, 5, 12, 3]],
    ['a choice', { choices: [{ ...choice, usage: MOONSHOT }] }, [20, 5, 12, null]],
    [
      'each choice',
      { choices: [0, 1].map((index) => ({ ...choice, index, usage: MOONSHOT })) },
      [20, 5, 12, null],
    ],
    ['a choice, beside null', { choices: [{ ...choice, usage: MOONSHOT }], usage: null }, [20, 5, 12, null]],
  ])('is counted in %s, streamed and whole', async (_where, said, expected) => {
    const frame = `data: ${JSON.stringify({ id: 'resp-s', object: 'chat.completion.chunk', ...said })}\n\n`;
    const [first = ''] = CONTENT_FRAMES;
    const gateway = await startStubGateway(answerStream([first, frame, DONE_FRAME]));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const streamed = await send({ url, body: STREAM_BODY });
    expect(streamed.body).toBe([first, frame, DONE_FRAME].join(''));
    const choices = said.choices.map(({ delta: _delta, ...one }) => ({ ...one, message }));
    gateway.answer = answerJson(
      200,
      JSON.stringify({ id: 'resp-1', object: 'chat.completion', ...said, choices }),
    );
    expect((await send({ url })).status).toBe(200);
    const read = (await rows()).map(({ promptTokens, completionTokens, cachedTokens, reasoningTokens }) => [
      ...[promptTokens, completionTokens, cachedTokens, reasoningTokens ?? null],
    ]);
    expect(read).toEqual([expected, expected]);
  });
});
