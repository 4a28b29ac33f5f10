/** Long lists beside the heap: what goes in comes out, whatever the characters and however many share a hash. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { float64Column, int32Column, TextColumn, TextIndex, uint8Column } from '../../core/columns.ts';

const TEXT = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('', '\u0100', 'id-1', 'id-1\u0100', '\u0000'),
);

describe('NumberColumn', () => {
  it('keeps every number at its place while it grows', () => {
    for (const [column, numberAt] of [
      [float64Column(), (place: number) => place * 1e9 + 0.5],
      [int32Column(), (place: number) => place - 2_000],
      [uint8Column(), (place: number) => place % 256],
    ] as const) {
      for (let place = 0; place < 5_000; place += 1) expect(column.push(numberAt(place))).toBe(place);
      column.set(3, 7);
      expect([column.at(3), column.at(4_999), column.at(5_000)]).toEqual([7, numberAt(4_999), 0]);
      expect([column.length, column.all().length]).toEqual([5_000, 5_000]);
    }
  });
});

describe('TextColumn', () => {
  it('gives every text back, and knows it from others', () => {
    fc.assert(
      fc.property(fc.array(TEXT), TEXT, (texts, other) => {
        const column = new TextColumn();
        expect(texts.map((text) => column.push(text))).toEqual([...texts.keys()]);
        for (const [place, text] of texts.entries()) {
          expect(column.at(place)).toBe(text);
          expect(column.isAt(place, text)).toBe(true);
          expect(column.isAt(place, other)).toBe(other === text);
        }
      }),
      { seed: 26, numRuns: 300 },
    );
  });

  it('holds a text longer than all before it', () => {
    const column = new TextColumn();
    const long = 'x'.repeat(100_000);
    expect([column.push('a'), column.push(long), column.push('b')]).toEqual([0, 1, 2]);
    expect([column.at(0), column.at(1), column.at(2)]).toEqual(['a', long, 'b']);
  });
});

describe('TextIndex', () => {
  it('finds what a map finds', () => {
    fc.assert(
      fc.property(fc.array(TEXT, { maxLength: 60 }), fc.array(TEXT), (texts, others) => {
        const [index, map] = [new TextIndex(), new Map<string, number>()];
        for (const text of texts) {
          if (!map.has(text)) map.set(text, map.size);
          expect(index.add(text)).toBe(map.get(text));
        }
        for (const text of [...texts, ...others]) expect(index.find(text)).toBe(map.get(text) ?? -1);
        expect(index.length).toBe(map.size);
      }),
      { seed: 26, numRuns: 300 },
    );
  });

  it('keeps many, and those that somebody chose to be of one hash', () => {
    const index = new TextIndex();
    for (let place = 0; place < 20_000; place += 1) expect(index.add(`id-${place}`)).toBe(place);
    expect(index.find('id-19999')).toBe(19_999);
    const chosen = sameSlot(300);
    const few = new TextIndex();
    expect(chosen.map((text) => few.add(text))).toEqual([...chosen.keys()]);
    expect(chosen.map((text) => few.find(text))).toEqual([...chosen.keys()]);
    expect(few.find('none')).toBe(-1);
    for (let more = 0; more < 3_000; more += 1) few.add(`more-${more}`);
    expect(chosen.map((text) => few.find(text))).toEqual([...chosen.keys()]);
  });
});

/** Texts whose FNV-1a hash, brought down, ends in the same 11 bits: as many as a table begins with. */
function sameSlot(count: number): readonly string[] {
  const found: string[] = [];
  for (let number = 0; found.length < count; number += 1) {
    const text = `t${number}`;
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    if (((hash ^ (hash >>> 15)) & 2_047) === 5) found.push(text);
  }
  return found;
}
