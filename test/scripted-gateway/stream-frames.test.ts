// A streamed answer put together again is the answer that is not streamed.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { answerOf, completionBody } from '../../scripted-gateway/answer.ts';
import type { AnswerTurn } from '../../scripted-gateway/script/script.ts';
import { streamFrames } from '../../scripted-gateway/stream-frames.ts';
import { reassemble } from './reassemble.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 2000 });
const turn: fc.Arbitrary<AnswerTurn> = fc.record({
  kind: fc.constant('answer' as const),
  say: fc.option(fc.tuple(text)),
  calls: fc.array(fc.record({ tool: fc.string({ minLength: 1 }), argumentsJson: fc.tuple(fc.json()) }), {
    maxLength: 4,
  }),
  usage: fc.constant(null),
  latencyMs: fc.constant(null),
});
const head = { id: 'chatcmpl-1', created: 7, model: 'vendor/small' };
const usage = { promptTokens: 3, completionTokens: 4 };

describe('streamFrames()', () => {
  it('reassembles to the completion', () => {
    fc.assert(
      fc.property(turn, fc.boolean(), (scripted, includeUsage) => {
        const answer = answerOf(scripted, { scriptName: 's', turnIndex: 0, workingDir: '' });
        const whole = completionBody(head, answer, usage);
        const frames = [...streamFrames(head, answer, usage, { includeUsage })].join('');
        const { usage: count, ...rest } = whole;
        expect(reassemble(frames)).toEqual(includeUsage ? { ...rest, usage: count } : rest);
      }),
    );
  });

  it('cuts a long text into a bounded number of pieces and never cuts a character', () => {
    const say = '🙂é'.repeat(5000);
    const answer = answerOf(
      { kind: 'answer', say: [say], calls: [], usage: null, latencyMs: null },
      { scriptName: 's', turnIndex: 0, workingDir: '' },
    );
    const frames = [...streamFrames(head, answer, usage, { includeUsage: false })];
    expect(frames.length).toBeLessThanOrEqual(64 + 3);
    expect(frames.some((frame) => /\\ud[89a-f]/i.test(frame))).toBe(false);
  });

  it('spells out an ordinary answer', () => {
    const answer = answerOf(
      {
        kind: 'answer',
        say: ['Hi.'],
        calls: [{ tool: 'ls', argumentsJson: ['{"path":"src/a"}'] }],
        usage,
        latencyMs: null,
      },
      { scriptName: 'fix', turnIndex: 2, workingDir: '' },
    );
    const frames = [...streamFrames(head, answer, usage, { includeUsage: true })];
    const body = (choices: string, count = 'null'): string =>
      `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"vendor/small","choices":[${choices}],"usage":${count}}\n\n`;
    const delta = (json: string): string => body(`{"index":0,"delta":${json},"finish_reason":null}`);
    expect(frames).toEqual([
      delta('{"role":"assistant","content":""}'),
      delta('{"content":"Hi."}'),
      delta(
        '{"tool_calls":[{"index":0,"id":"call_fix_2_0","type":"function","function":{"name":"ls","arguments":""}}]}',
      ),
      delta('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"path\\":"}}]}'),
      delta('{"tool_calls":[{"index":0,"function":{"arguments":"\\"src/a\\"}"}}]}'),
      body('{"index":0,"delta":{},"finish_reason":"tool_calls"}'),
      body('', '{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}'),
      'data: [DONE]\n\n',
    ]);
  });
});
