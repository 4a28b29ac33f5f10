// The turn follows from the history alone, whatever the client has trimmed.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { answerOf } from '../../scripted-gateway/answer.ts';
import type { ChatMessage } from '../../scripted-gateway/chat-request.ts';
import { chooseTurn } from '../../scripted-gateway/script/choose-turn.ts';
import type { GatewayScript, Turn, TurnScript } from '../../scripted-gateway/script/script.ts';
import { header, sampleScript, scriptOf, user } from './gateway-fixture.ts';

type Placed = Extract<ReturnType<typeof chooseTurn>, { kind: 'turn' }>;

function place(script: GatewayScript, messages: readonly ChatMessage[]): Placed {
  const choice = chooseTurn({ messages }, script);
  if (choice.kind === 'noScript') throw new Error('no script');
  return choice;
}

const answerTurn = (say: string | null, callCount: number): Turn => ({
  kind: 'answer',
  say: say === null ? null : [say],
  calls: Array.from({ length: callCount }, () => ({ tool: 't', argumentsJson: ['{}'] })),
  usage: null,
  latencyMs: null,
});
const errorTurn: Turn = {
  kind: 'error',
  status: 429,
  message: 'm',
  retryAfterSeconds: null,
  latencyMs: null,
};

const anyTurn = fc.oneof(
  fc.constant(errorTurn),
  fc.constant(answerTurn('said', 0)),
  fc.integer({ min: 1, max: 3 }).map((count) => answerTurn(null, count)),
  fc.constant(answerTurn('both', 1)),
);

function worldOf(turns: readonly Turn[]): GatewayScript {
  const finalTurn = answerTurn('Done.', 0);
  if (finalTurn.kind !== 'answer') throw new Error('final turn');
  const script: TurnScript = { name: 'a_1', contains: 'start', offers: null, turns, finalTurn };
  const workingDir = { from: 'system', pattern: /(x)/ } as const;
  return { path: 's', keys: [], models: new Map(), latencyMs: 0, workingDir, scripts: [script] };
}

/** What a client appends after an answer: the assistant message, then tool results or the next user message. */
function extend(history: readonly ChatMessage[], choice: Placed): readonly ChatMessage[] {
  const { content, toolCalls } = answerOf(choice.answer, { ...choice, workingDir: '' });
  const calls = toolCalls.map((call) => ({ ...call }));
  const results = calls.map((call) => ({ role: 'tool', content: 'ok', tool_call_id: call.id }));
  const next = results.length > 0 ? results : [user('go on')];
  return [
    ...history,
    { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
    ...next,
  ];
}

/** Drops messages between the first and the newest one with tool calls, as `keep` says. */
function trim(history: readonly ChatMessage[], keep: readonly boolean[]): readonly ChatMessage[] {
  const newest = history.findLastIndex((message) => message.tool_calls !== undefined);
  return history.filter((_, index) => index === 0 || index >= newest || (keep[index % keep.length] ?? true));
}

describe('chooseTurn()', () => {
  it('plays every turn in order, however the client trims older history', () => {
    fc.assert(
      fc.property(
        fc.array(anyTurn, { maxLength: 12 }),
        fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 5 }),
        (turns, trims) => {
          const script = worldOf(turns);
          const played: number[] = [];
          let history: readonly ChatMessage[] = [user('please start')];
          // Each request plays at least one turn, so this many reach two past the end.
          for (let left = turns.length + 2; left > 0 && (played.at(-1) ?? -1) <= turns.length; left -= 1) {
            const choice = place(script, history);
            played.push(...choice.errors.map((error) => error.turnIndex), choice.turnIndex);
            history = trim(extend(history, choice), trims[played.length % trims.length] ?? [true]);
          }
          expect(played).toEqual(Array.from({ length: turns.length + 2 }, (_, index) => index));
        },
      ),
    );
  });

  it('gives no two calls of a conversation one id, even past the end', () => {
    const world = worldOf([answerTurn(null, 2)]);
    const final = answerTurn(null, 1);
    if (final.kind !== 'answer') throw new Error('final turn');
    const script = { ...world, scripts: world.scripts.map((one) => ({ ...one, finalTurn: final })) };
    let history: readonly ChatMessage[] = [user('start')];
    for (let step = 0; step < 4; step += 1) history = extend(history, place(script, history));
    const ids = history.flatMap((message) => (message.tool_calls ?? []).map((call) => call.id));
    expect(ids).toEqual(['call_a_1_0_0', 'call_a_1_0_1', 'call_a_1_1_0', 'call_a_1_2_0', 'call_a_1_3_0']);
  });

  const sample = scriptOf(sampleScript);

  it('finds the script by the first user message, in text or in parts', () => {
    const parts = {
      role: 'user',
      content: [
        { type: 'text', text: 'please' },
        { type: 'text', text: 'fix the bug' },
      ],
    };
    expect(place(sample, [{ role: 'system', content: 'x' }, parts]).scriptName).toBe('fix');
    expect(place(sample, [user('hello'), user('fix the bug')]).scriptName).toBe('other');
    expect(place(sample, [{ role: 'system', content: 'fix the bug' }]).scriptName).toBe('other');
  });

  it('stays with the script that ids name when the first user message is gone', () => {
    const choice = place(sample, [
      user('summary'),
      { role: 'tool', tool_call_id: 'call_fix_0_0', content: '' },
    ]);
    expect([choice.scriptName, choice.errors.length, choice.turnIndex]).toEqual(['fix', 1, 2]);
  });

  it('does not count the calls of others as its own', () => {
    const foreign = { role: 'assistant', content: null, tool_calls: [{ id: 'call_other_7_0' }] };
    const choice = place(sample, [user('fix the bug'), foreign, { role: 'tool', tool_call_id: 'toolu_9' }]);
    expect(choice.turnIndex).toBe(2);
  });

  it('tells agents with the same task apart by a tool that they offer, in the words of either vendor', () => {
    const script = scriptOf(
      `${header}scripts:
  - { name: shell, when: { contains: fix, tool: bash }, turns: [] }
  - { name: editor, when: { tool: Edit }, turns: [] }
  - { name: any, turns: [] }
`,
    );
    const chosen = (...tools: readonly unknown[]): string => {
      const choice = chooseTurn({ messages: [user('fix it')], tools }, script);
      return choice.kind === 'turn' ? choice.scriptName : choice.kind;
    };
    expect(chosen({ type: 'function', function: { name: 'bash' } })).toBe('shell');
    expect(chosen({ name: 'Read', input_schema: {} }, { name: 'Edit' })).toBe('editor');
    expect(chosen({ name: 'Bash' }, 'no tool at all')).toBe('any');
    expect(chosen()).toBe('any');
  });

  it('says so when no script fits', () => {
    expect(chooseTurn({ messages: [user('nothing')] }, worldOf([]))).toEqual({ kind: 'noScript' });
  });
});
