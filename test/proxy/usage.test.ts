/** Usage as vendors send it: texts for numbers, totals alone, split or growing frames, cached tokens beside the input. */
import { describe, expect, it } from 'vitest';
import { joinUsage, readUsage } from '../../proxy/usage.ts';

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
