/** The matchers: each passes, fails, and says when, what and what led to it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createWorld, parleyMatchers, type World } from '../../testing/index.ts';
import type { ConversationHandle } from '../../testing/conversation-handle.ts';
import '../../testing/vitest.ts';

describe('the matchers', () => {
  const at: { world: World; conversation: ConversationHandle } = {} as never;

  beforeAll(() => {
    at.world = createWorld({ models: { agent: { work: '13h' } } });
    at.conversation = at.world.start({ name: 'long' });
    at.world.advance('12h1m');
  });

  it('hold of what is so, of a conversation and of its sandbox', () => {
    const { conversation } = at;
    for (const seen of [conversation, conversation.sandbox]) {
      expect(seen).toBePaused();
      expect(seen).toBePaused({ reason: 'session_limit' });
      expect(seen).toHaveStatus('PAUSED');
      expect(seen).not.toBePaused({ reason: 'idle' });
      expect(seen).not.toBeRunning();
      expect(seen).not.toBeMissing();
    }
    expect(conversation).toHaveOutcome(null);
    expect(conversation).toHaveCostAtLeast(1.2);
    expect(conversation).toHaveCostAtMost(1.425);
    expect(conversation).not.toHaveCost(1.425);
  });

  it('hold of the items of a run', () => {
    const world = createWorld();
    const run = world.run(
      'kind: job\nversion: 1\nname: one\ndefaults: { model: coder }\nconversations: [{ id: first, prompt: Go. }]\n',
    );
    const item = run.item('first');
    expect(item).toHaveStatus(null);
    world.advance('5m');
    expect(item).toBeRunning();
    expect(item).toHaveOutcome(null);
    world.advance('1d');
    expect(item).toBeMissing();
    expect(item).toHaveOutcome('succeeded');
    expect(item).toHaveCost(1.425);
  });

  it.each([
    [
      () => expect(at.conversation).toBeRunning(),
      'expected the conversation "long" to be RUNNING; it is PAUSED (session_limit)',
    ],
    [
      () => expect(at.conversation.sandbox).toBePaused({ reason: 'idle' }),
      'expected the sandbox of "long" to be PAUSED (idle); it is PAUSED (session_limit)',
    ],
    [
      () => expect(at.conversation).not.toBePaused(),
      'expected not: the conversation "long" to be PAUSED; it is PAUSED (session_limit)',
    ],
    [
      () => expect(at.conversation).toBeMissing(),
      'expected the conversation "long" to be MISSING; it is PAUSED',
    ],
    [
      () => expect(at.conversation).toHaveOutcome('FINISHED'),
      'expected the conversation "long" to have the outcome FINISHED; its outcome is not there yet',
    ],
    [
      () => expect(at.conversation).toHaveCostAtMost(1),
      'expected the conversation "long" to cost at most $1; it cost $1.3',
    ],
    [
      () => expect(at.conversation).toHaveCostAtLeast(2),
      'expected the conversation "long" to cost at least $2; it cost $1.3',
    ],
    [
      () => expect(at.conversation).toHaveCost(2),
      'expected the conversation "long" to cost $2; it cost $1.3',
    ],
  ])('say what was expected and what is: %#', (check, sentence) => {
    const message = messageOf(check);
    expect(message).toContain(sentence);
    const [, ...rest] = message.split('\n');
    expect(rest[0]).toBe('after 12h1m; its last events:');
    expect(rest).toHaveLength(6);
    expect(rest.at(-1)).toMatch(/^ {2}12h\d*s? (sandbox|conversation)\/[0-9a-f]{8} \w+/);
  });

  it('refuse what is none of theirs', () => {
    expect(() => parleyMatchers.toBePaused('x')).toThrow('Cannot use toBePaused()');
    expect(() => parleyMatchers.toHaveCost(at.conversation.sandbox, 1)).toThrow('Cannot use toHaveCost()');
  });
});

function messageOf(check: () => void): string {
  try {
    check();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('Cannot read the message: the check passed');
}
