/** Reads that are shared: one statement for those who ask the same, and each gets what a read of its own would have given. */
import { setImmediate as eventLoopTick } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SharedReads } from '../../store/sql/shared-reads.ts';

function table() {
  const rows = new Map<string, number>();
  const asked: string[] = [];
  const reads = new SharedReads<number | undefined>();
  const read = (question: string): Promise<number | undefined> =>
    reads.read(question, () => {
      asked.push(question);
      return Promise.resolve(rows.get(question));
    });
  return { rows, asked, read };
}

describe('the same question', () => {
  it('is asked once in a turn, and again in the next', async () => {
    const { rows, asked, read } = table();
    rows.set('a', 1);
    expect(await Promise.all([read('a'), read('b'), read('a')])).toEqual([1, undefined, 1]);
    expect(asked).toEqual(['a', 'b']);
    expect(await read('a')).toBe(1);
    expect(asked).toEqual(['a', 'b', 'a']);
  });

  it('fails for all who share it, and for nobody after it', async () => {
    const reads = new SharedReads<string>();
    const lost = (): Promise<string> => Promise.reject(new Error('gone'));
    const both = await Promise.allSettled([reads.read('a', lost), reads.read('a', lost)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await reads.read('a', () => Promise.resolve('x'))).toBe('x');
  });

  it('is never answered with less than was written before it was asked', async () => {
    const step = fc.oneof(
      fc.constantFrom('a', 'b').map((question) => ({ kind: 'read', question }) as const),
      fc.constantFrom('a', 'b').map((question) => ({ kind: 'write', question }) as const),
      fc.constant({ kind: 'turn' } as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { rows, read } = table();
        const reads: Promise<void>[] = [];
        for (const one of steps) {
          if (one.kind === 'turn') await eventLoopTick();
          else if (one.kind === 'write') rows.set(one.question, (rows.get(one.question) ?? 0) + 1);
          else {
            const least = rows.get(one.question) ?? 0;
            const check = (found: number | undefined): void =>
              expect(found ?? 0).toBeGreaterThanOrEqual(least);
            reads.push(read(one.question).then(check));
          }
        }
        await Promise.all(reads);
      }),
    );
  });
});
