/** What a page keeps of what is not an event yet: how it grows, its bounds, and what ends it. */
import { describe, expect, it } from 'vitest';
import type { PartialEvent, StreamedEvent } from '../../api/client/client.ts';
import {
  NO_PARTIALS,
  OUTPUT_CHARS_MAX,
  WORDS_CHARS_MAX,
  withoutEvents,
  withPartial,
  type PartialTexts,
} from '../../web/data/partial-texts.ts';

const words = (id: string | null, content: string): PartialEvent => ({
  ...{ kind: 'StreamingDeltaEvent', content, llm_response_id: id },
});
const output = (id: string, content: string): PartialEvent => ({
  ...{ kind: 'StreamingOutputEvent', tool_name: 'terminal', tool_call_id: 'c', action_id: id, content },
});
const grown = (...partials: PartialEvent[]): PartialTexts => partials.reduce(withPartial, NO_PARTIALS);
const event = (fields: object): StreamedEvent => ({
  ...{ seq: 1, event: { id: 'e', kind: 'MessageEvent', source: 'agent', ...fields } },
});

describe('partial texts', () => {
  it('grow by their answer and by their action', () => {
    const { words: said, outputs } = grown(
      words('a', 'Hel'),
      output('1', 'x\n'),
      words('a', 'lo'),
      output('1', 'y'),
    );
    expect(said).toEqual([{ responseId: 'a', content: 'Hello', reasoning: '' }]);
    expect([...outputs]).toEqual([['1', 'x\ny']]);
  });

  it('have bounds, of which the end is kept', () => {
    const many = Array.from({ length: 50 }, (_, at) => [words(`w${at}`, 'x'), output(`o${at}`, 'y')]).flat();
    const full = grown(
      ...many,
      words('w', 'a'.repeat(WORDS_CHARS_MAX) + 'end'),
      output('o', 'b'.repeat(OUTPUT_CHARS_MAX) + 'end'),
    );
    expect([full.words.length, full.outputs.size]).toEqual([4, 4]);
    expect(full.words.at(-1)?.content).toHaveLength(WORDS_CHARS_MAX);
    expect(full.words.at(-1)?.content.endsWith('end')).toBe(true);
    expect(full.outputs.get('o')).toHaveLength(OUTPUT_CHARS_MAX);
  });

  it('give way to their event, with the tries before it and what has no name', () => {
    const before = grown(
      words('cut', 'Wh'),
      words(null, 'Wh'),
      words('a', 'Who'),
      words('b', 'next'),
      output('1', 'x'),
      output('2', 'y'),
    );
    const after = withoutEvents(before, [
      event({ llm_response_id: 'a' }),
      event({ action_id: '1', source: 'environment' }),
    ]);
    expect(after.words.map(({ responseId }) => responseId)).toEqual(['b']);
    expect([...after.outputs.keys()]).toEqual(['2']);
  });

  it('end when the agent does not run any more, and stay through what has nothing to do with them', () => {
    const before = grown(words('a', 'Who'), output('1', 'x'));
    const state = (value: string) =>
      event({ kind: 'ConversationStateUpdateEvent', key: 'execution_status', value });
    expect(withoutEvents(before, [state('paused')])).toBe(NO_PARTIALS);
    const stays = withoutEvents(before, [state('running'), event({ source: 'user', llm_response_id: null })]);
    expect([stays.words.length, stays.outputs.size]).toEqual([1, 1]);
    expect(withoutEvents(NO_PARTIALS, [event({})])).toBe(NO_PARTIALS);
  });
});
