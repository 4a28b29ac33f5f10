/** Reads that are gathered: fewer statements, and each caller gets what a read of its own would have given. */
import { setImmediate as eventLoopTick } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatheredReads } from '../../store/sql/gathered-reads.ts';
import { RecentTexts } from '../../store/records/full-conversations.ts';

const IDS_MAX = 8;

interface Table {
  readonly rows: Map<string, string>;
  readonly statements: (readonly string[])[];
  readonly reads: GatheredReads<string>;
}

function table(): Table {
  const rows = new Map<string, string>();
  const statements: (readonly string[])[] = [];
  const reads = new GatheredReads((ids) => {
    statements.push(ids);
    const found = ids.flatMap((id) => {
      const row = rows.get(id);
      return row === undefined ? [] : [[id, row] as const];
    });
    return Promise.resolve(new Map(found));
  }, IDS_MAX);
  return { rows, statements, reads };
}

describe('reads by id', () => {
  it('are one statement for all of one turn, each id once', async () => {
    const { rows, statements, reads } = table();
    rows.set('a', 'one').set('b', 'two');
    const found = await Promise.all([reads.read(['a']), reads.read(['b', 'a']), reads.read(['c'])]);
    expect(statements).toEqual([['a', 'b', 'c']]);
    expect(found.map((one) => [one.get('a'), one.get('c')])).toEqual(Array(3).fill(['one', undefined]));
    await reads.read(['a']);
    expect(statements).toHaveLength(2);
  });

  it('see what was written before they were asked for', async () => {
    const { rows, reads } = table();
    const early = reads.read(['a']);
    rows.set('a', 'new');
    const [first, second] = await Promise.all([early, reads.read(['a'])]);
    expect([first.get('a'), second.get('a')]).toEqual(['new', 'new']);
    const sent = reads.read(['a']);
    await eventLoopTick();
    rows.set('a', 'newer');
    expect((await reads.read(['a'])).get('a')).toBe('newer');
    await sent;
  });

  it('fail for all who share a statement, and for nobody after it', async () => {
    let failures = 1;
    const reads = new GatheredReads<string>(
      (ids) =>
        failures-- > 0 ? Promise.reject(new Error('gone')) : Promise.resolve(new Map([[ids[0] ?? '', 'x']])),
      IDS_MAX,
    );
    const both = await Promise.allSettled([reads.read(['a']), reads.read(['b'])]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await reads.read(['a'])).get('a')).toBe('x');
  });

  it('never ask for more ids at once than a statement takes, nor split those of one caller', async () => {
    const ids = fc.uniqueArray(fc.constantFrom(...'abcdefghijkl'), { minLength: 1, maxLength: IDS_MAX });
    await fc.assert(
      fc.asyncProperty(fc.array(ids, { maxLength: 12 }), async (callers) => {
        const { rows, statements, reads } = table();
        for (const id of 'acegik') rows.set(id, id.toUpperCase());
        const answers = await Promise.all(callers.map((wanted) => reads.read(wanted)));
        for (const [i, wanted] of callers.entries())
          for (const id of wanted) expect(answers[i]?.get(id)).toBe(rows.get(id));
        for (const statement of statements) {
          expect(statement.length).toBeLessThanOrEqual(IDS_MAX);
          expect(new Set(statement).size).toBe(statement.length);
        }
        for (const wanted of callers)
          expect(statements.some((statement) => wanted.every((id) => statement.includes(id)))).toBe(true);
        expect(statements.length).toBeLessThanOrEqual(callers.length);
      }),
    );
  });
});

describe('values of recent texts', () => {
  it('are made anew only for a text that was not read lately, and never for another text', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 })), fc.integer({ min: 1, max: 4 }), (texts, max) => {
        const made: string[] = [];
        const recent = new RecentTexts((text) => {
          made.push(text);
          return { text };
        }, max);
        for (const [i, number] of texts.entries()) {
          const before = made.length;
          expect(recent.valueOf(String(number), `text ${number}`).text).toBe(`text ${number}`);
          const between = new Set(texts.slice(texts.lastIndexOf(number, i - 1) + 1, i));
          // With fewer than `max` others in between, it is still there.
          if (i > 0 && texts.lastIndexOf(number, i - 1) >= 0 && between.size < max)
            expect(made.length).toBe(before);
        }
      }),
    );
  });

  it('are made of the text that is asked for, whatever the name meant before', () => {
    const texts = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2', '3')));
    fc.assert(
      fc.property(texts, (asked) => {
        const recent = new RecentTexts((text) => ({ text }), 1);
        for (const [name, text] of asked) expect(recent.valueOf(name, text).text).toBe(text);
      }),
    );
  });

  it('are kept in a bounded number', () => {
    const made: string[] = [];
    const recent = new RecentTexts((text) => {
      made.push(text);
      return {};
    }, 10);
    for (let i = 0; i < 1_000; i += 1) recent.valueOf(String(i), '');
    for (let i = 0; i < 980; i += 1) recent.valueOf(String(i), '');
    expect(made).toHaveLength(1_980);
    for (let i = 0; i < 2; i += 1) recent.valueOf('long', 'x'.repeat(5_000));
    expect(made).toHaveLength(1_982);
  });
});
