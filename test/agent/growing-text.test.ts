/** A text in pieces is masked as the whole of it: no cut lets a part of a secret through, and nothing is held for ever. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { GrowingText } from '../../agent/conversation/growing-text.ts';
import { settledText } from '../../agent/growing-redaction.ts';
import { PARTIAL_CHARS_MAX, PARTIAL_EVERY_MS, PARTIAL_WAITING_CHARS_MAX } from '../../agent/limits.ts';
import { MASK, makeRedactor } from '../../agent/redaction.ts';

const SECRET = 'tok-4f9a1c77e2';

/** What is said of pieces, each of which is settled as it comes. */
function said(secrets: readonly string[], pieces: readonly string[]): string {
  const { forms } = makeRedactor(secrets);
  let raw = '';
  let at = 0;
  let all = '';
  for (const piece of pieces) {
    raw += piece;
    const { text, end } = settledText(forms, raw, at);
    all += text;
    at = end;
  }
  return all;
}

describe('settledText()', () => {
  it('says the same as the whole, wherever a text is cut', () => {
    const whole = `before ${SECRET} and ${SECRET}${SECRET.slice(0, 5)} after.`;
    const masked = makeRedactor([SECRET]).text(whole);
    for (let cut = 0; cut <= whole.length; cut += 1)
      expect(said([SECRET], [whole.slice(0, cut), whole.slice(cut)])).toBe(masked);
    expect(said([SECRET], Array.from(whole))).toBe(masked);
  });

  it('lets nothing of a secret through, in any pieces, among secrets that overlap', () => {
    const part = fc.constantFrom('tok-', '4f9a', '1c77', 'e2', 'xtok', '-4', ' ', 'a', SECRET, 'xxto');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (pieces) => {
        const secrets = [SECRET, 'xxtok-4', '77e2 a'];
        const all = said(secrets, pieces);
        for (const secret of secrets) expect(all).not.toContain(secret);
        // Whatever was said is what the whole would show, or more of it masked.
        const rest = all.replaceAll(MASK, '');
        expect(pieces.join('').length).toBeGreaterThanOrEqual(rest.length);
      }),
      { numRuns: 500 },
    );
  });

  it('holds back no more than what may become a secret', () => {
    const { forms } = makeRedactor([SECRET]);
    expect(settledText(forms, 'a word tok-4', 0)).toEqual({ text: 'a word ', end: 7 });
    expect(settledText(forms, 'a word tok-5', 0).text).toBe('a word tok-5');
    expect(settledText(makeRedactor([]).forms, 'anything', 0).text).toBe('anything');
  });

  it('masks a secret that reaches over the place where one begins to say', () => {
    const { forms } = makeRedactor([SECRET]);
    expect(settledText(forms, `${SECRET} rest!`, 6).text).toBe(`${MASK} rest!`);
    expect(settledText(forms, SECRET.slice(0, 8), 4)).toEqual({ text: '', end: 4 });
  });
});

describe('GrowingText', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const open = (secrets: readonly string[] = [SECRET]) => {
    const pieces: string[] = [];
    const watch = { isWatched: true };
    const text = new GrowingText({
      redactor: makeRedactor(secrets),
      isWatched: () => watch.isWatched,
      say: (piece) => void pieces.push(piece),
    });
    const later = (): void => void vi.advanceTimersByTime(PARTIAL_EVERY_MS);
    return { pieces, watch, text, later };
  };

  it('says what came within an interval as one piece', () => {
    const { pieces, text, later } = open();
    for (const word of ['one ', 'two ', 'three']) text.push(word);
    expect(pieces).toEqual([]);
    later();
    text.push(' four');
    later();
    expect(pieces).toEqual(['one two three', ' four']);
  });

  it('keeps its bounds under a flood, and says that something was left out', () => {
    const { pieces, text, later } = open();
    for (let at = 0; at < 1_000; at += 1) text.push('x'.repeat(10_000));
    later();
    expect(pieces).toHaveLength(1);
    expect(pieces[0]?.startsWith('\n[...]\n')).toBe(true);
    expect(pieces[0]?.length).toBeLessThan(PARTIAL_CHARS_MAX + 20);
  });

  it('hides the second half of a secret from who comes in the middle of it, and after a flood', () => {
    const { pieces, watch, text, later } = open();
    watch.isWatched = false;
    text.push(`${'y'.repeat(PARTIAL_WAITING_CHARS_MAX * 2)}${SECRET.slice(0, 7)}`);
    watch.isWatched = true;
    text.push(`${SECRET.slice(7)} end!`);
    later();
    expect(pieces.join('')).toContain(`${MASK} end!`);
    for (let at = 0; at < 40; at += 1) {
      text.push(
        `${'z'.repeat(PARTIAL_WAITING_CHARS_MAX + at)}${SECRET}${'z'.repeat(PARTIAL_CHARS_MAX - 5 - at)}`,
      );
      later();
    }
    for (let from = 0; from + 5 <= SECRET.length; from += 1)
      expect(pieces.join('')).not.toContain(SECRET.slice(from, from + 5));
  });

  it('says nothing of what was skipped, and still knows a secret that began there', () => {
    const { pieces, text, later } = open();
    text.push(`old ${SECRET.slice(0, 6)}`);
    text.skip();
    text.push(`${SECRET.slice(6)} new`);
    later();
    expect(pieces.join('')).toBe(`${MASK} new`);
  });
});
