/** Texts that are cut: they fit, by the bytes that a server counts, are cut at no place but between two characters, and lose nothing for no reason. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isShortened, withShortTexts } from '../../core/text/short-values.ts';
import { jsonBytes, shortened, shortenedList, utf8Bytes } from '../../core/text/shorten.ts';

/** Any text: pairs, halves of pairs, control characters, quotes. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    .map((units) => String.fromCharCode(...units)),
);
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value), 'utf8');

describe('the size of a text', () => {
  it('is that of its UTF-8 bytes', () => {
    fc.assert(fc.property(text, (one) => utf8Bytes(one) === Buffer.byteLength(one, 'utf8')));
  });

  it('in JSON is that of what JSON writes', () => {
    fc.assert(fc.property(text, (one) => jsonBytes(one) === sizeOf(one)));
  });
});

describe('a text that is cut', () => {
  const bytes = fc.integer({ min: 0, max: 80 });

  it('fits, and is the whole text when that fits', () => {
    fc.assert(
      fc.property(text, bytes, (one, bytesMax) => {
        const short = shortened(one, bytesMax);
        expect(utf8Bytes(short)).toBeLessThanOrEqual(bytesMax);
        expect(short === one).toBe(utf8Bytes(one) <= bytesMax);
      }),
    );
  });

  it('is the longest beginning of whole characters that leaves room for the mark', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 3, max: 80 }), (one, bytesMax) => {
        fc.pre(utf8Bytes(one) > bytesMax);
        const short = shortened(one, bytesMax);
        const kept = [...short].slice(0, -1);
        expect([...short].at(-1)).toBe('…');
        expect([...one].slice(0, kept.length)).toEqual(kept);
        const next = [...one].slice(0, kept.length + 1).join('');
        expect(utf8Bytes(`${next}…`)).toBeGreaterThan(bytesMax);
        expect(isShortened(short, bytesMax)).toBe(true);
        expect(shortened(short, bytesMax)).toBe(short);
      }),
    );
  });

  it('has no mark where there is no room for it', () => {
    expect(['é', 'aé', '😀'].map((one) => shortened(`${one}${one}`, 2))).toEqual(['é', 'a', '']);
  });
});

describe('a list that is cut', () => {
  const bounds = fc.record({
    itemBytesMax: fc.integer({ min: 3, max: 60 }),
    jsonBytesMax: fc.integer({ min: 2, max: 200 }),
  });

  it('fits as JSON writes it, with each text in its bound, in order and once', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), bounds, (texts, bound) => {
        const list = shortenedList(texts, bound);
        expect(sizeOf(list)).toBeLessThanOrEqual(bound.jsonBytesMax);
        expect(list.every((one) => utf8Bytes(one) <= bound.itemBytesMax)).toBe(true);
        expect(new Set(list).size).toBe(list.length);
        const whole = [...new Set(texts)];
        const fits = whole.every((one) => utf8Bytes(one) <= bound.itemBytesMax);
        if (fits && sizeOf(whole) < bound.jsonBytesMax) expect(list).toEqual(whole);
      }),
    );
  });

  it('keeps a part of every text, and what is short whole', () => {
    const long = Array.from({ length: 12 }, (_, index) => `tag${index}=${'x'.repeat(200)}`);
    const list = shortenedList([...long, 'team=a'], { itemBytesMax: 255, jsonBytesMax: 2_000 });
    expect(list.length).toBe(13);
    expect(list.at(-1)).toBe('team=a');
    expect(list.slice(0, -1).every((one, index) => one.startsWith(`tag${index}=xxx`))).toBe(true);
    expect(sizeOf(list)).toBeGreaterThan(1_900);
  });
});

describe('a value whose texts are cut', () => {
  it('is the same value otherwise, and the same object when nothing is long', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 3, max: 40 }), (value, bytesMax) => {
        const short = withShortTexts(value, bytesMax);
        const reviver = (_key: string, one: unknown): unknown =>
          typeof one === 'string' ? shortened(one, bytesMax) : one;
        expect(JSON.stringify(short)).toBe(JSON.stringify(JSON.parse(JSON.stringify(value), reviver)));
        if (sizeOf(value) <= bytesMax) expect(short).toBe(value);
      }),
    );
  });
});
