/**
 * The laws of masking: a value is found in every form it may take, and nothing else is touched.
 * Must not know who uses the redactor.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MASK, makeRedactor } from '../../agent/redaction.ts';

const value = fc
  .string({ unit: 'binary', minLength: 6, maxLength: 200 })
  .filter((text) => text.trim().length >= 6);
const around = fc.string({ maxLength: 20 });

describe('makeRedactor()', () => {
  it('hides a value in every form, wherever it stands', () => {
    fc.assert(
      fc.property(value, around, around, (secret, before, after) => {
        const { text } = makeRedactor([secret]);
        const utf8 = Buffer.from(secret, 'utf8');
        const forms = [
          secret,
          JSON.stringify(secret).slice(1, -1),
          utf8.toString('base64'),
          utf8.toString('base64url'),
          encodeURIComponent(utf8.toString('utf8')),
        ];
        for (const form of forms)
          expect(text(before + form + after)).not.toContain(form.length > 8 ? form : MASK + form);
      }),
    );
  });

  it('leaves at most the edges of a value encoded together with other text', () => {
    fc.assert(
      fc.property(value, around, around, (secret, before, after) => {
        const encoded = Buffer.from(before + secret + after, 'utf8').toString('base64');
        expect(makeRedactor([secret]).text(encoded)).toContain(MASK);
      }),
    );
  });

  it('finds base64 that an encoder broke into lines', () => {
    const secret = 'x1'.repeat(200);
    const lines =
      Buffer.from(`${secret}\n`)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    expect(makeRedactor([secret]).text(`${lines.join('\n')}\n`)).toBe(`${MASK}\n`);
  });

  it('hides each line of a value that has several', () => {
    const key = [
      '-----BEGIN PRIVATE KEY-----',
      'MIIEvQIBADANBg/kqhkiG9w0',
      'AQEFAASCBKcw+ggS',
      '-----END PRIVATE KEY-----',
    ];
    const account = '{\n  "type": "service",\n  "key": "abc\\ndef"\n}\n';
    const { text, deep } = makeRedactor([key.join('\n'), `${key.join('\r\n')}x`, account]);
    expect(text('  12: MIIEvQIBADANBg/kqhkiG9w0')).toBe(`  12: ${MASK}`);
    expect(text(key.map((line) => `> ${line}`).join('\n'))).toBe(
      `> ${key[0]}\n> ${MASK}\n> ${MASK}\n> ${key[3]}`,
    );
    expect(deep({ a: [`key="AQEFAASCBKcw+ggS"`] })).toEqual({ a: [`key="${MASK}"`] });
    expect(text(JSON.stringify('"key": "abc\\ndef"'))).toBe(`"${MASK}"`);
    expect(text('{ } "type"')).toBe('{ } "type"');
    expect(makeRedactor(['one line only\n']).text('one line')).toBe('one line');
  });

  it('takes values of the largest size', () => {
    const secrets = Array.from({ length: 50 }, (_, index) => `${index}-`.repeat(65_536 / 4));
    const { text } = makeRedactor(secrets);
    expect(text(`a ${secrets[49]} b ${Buffer.from(secrets[0] ?? '').toString('base64')}`)).toBe(
      `a ${MASK} b ${MASK}`,
    );
  });

  it('keeps text without secrets, short values and named fields', () => {
    const { deep, text } = makeRedactor(['abc', 'agent']);
    expect(text('abc')).toBe('abc');
    expect(deep({ source: 'agent', note: ['agent x'] }, new Set(['source']))).toEqual({
      source: 'agent',
      note: [`${MASK} x`],
    });
  });
});
