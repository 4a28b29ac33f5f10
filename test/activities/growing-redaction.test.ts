/** Secrets in texts that come in pieces: what is said is what the whole would show, and one text knows nothing of another. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settledText } from '../../agent/growing-redaction.ts';
import { makeRedactor } from '../../agent/redaction.ts';
import { GrowingRedaction } from '../../activities/growing-redaction.ts';
import { hiddenForms, redactText } from '../../activities/redaction.ts';

const SECRET = 'tok-4f9a1c77e2';

function open(...secrets: string[]): GrowingRedaction {
  const redaction = new GrowingRedaction();
  redaction.hide(hiddenForms(secrets));
  return redaction;
}

describe('GrowingRedaction', () => {
  it('says what the whole would show, wherever it is cut', () => {
    const whole = `before ${SECRET}${SECRET} and ${SECRET.slice(0, 9)} after!`;
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const redaction = open(SECRET);
      const said = redaction.take('a', whole.slice(0, cut)) + redaction.take('a', whole.slice(cut));
      expect(said).toBe(redactText(whole, hiddenForms([SECRET])));
    }
  });

  it('keeps texts apart, and holds nothing where nothing is hidden', () => {
    const redaction = open(SECRET);
    expect(redaction.take('a', 'x tok-4f')).toBe('x ');
    expect(redaction.take('b', '9a1c77e2!')).toBe('9a1c77e2!');
    expect(redaction.take('a', '9a1c77e2!')).toBe('<secret-hidden>!');
    expect(open().take('a', 'anything at all')).toBe('anything at all');
    for (let at = 0; at < 1_000; at += 1) redaction.take(`text ${at}`, 'x'.repeat(1_000));
  });

  it('agrees with that of the Agent Server on any pieces', () => {
    const part = fc.constantFrom('tok-', '4f9a', '1c77', 'e2', 'xtok', '-4', ' ', 'a', SECRET, 'xxto');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (pieces) => {
        const secrets = [SECRET, 'xxtok-4'];
        const sorted = [...hiddenForms(secrets)].sort();
        const forms = { sorted, longest: Math.max(...sorted.map(({ length }) => length)) };
        const redaction = open(...secrets);
        let [raw, at, theirs, ours] = ['', 0, '', ''];
        for (const piece of pieces) {
          raw += piece;
          const { text, end } = settledText(forms, raw, at);
          [theirs, at] = [theirs + text, end];
          ours += redaction.take('a', piece);
        }
        expect(ours).toBe(theirs);
        for (const secret of secrets) expect(ours).not.toContain(secret);
        expect(makeRedactor(secrets).text(ours)).toBe(ours);
      }),
      { numRuns: 500 },
    );
  });
});
