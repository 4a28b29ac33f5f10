/** The contract of Journal: of several executions of one entity the first is what counts, and what it said is whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../ports/journal.ts';
import { batch, conversationNumber, entity, sandboxNumber } from './store-rows.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const SANDBOX = { machine: 'sandbox', id: sandboxNumber(1) } as const;
const OTHER = { machine: 'conversation', id: conversationNumber(1) } as const;

const entry = (number: number, inputs: JournalEntry['inputs'], settled = 0): JournalEntry => ({
  entity: SANDBOX,
  number,
  settled,
  inputs,
});
const saying = (state: string) => batch({ entities: [entity(SANDBOX, { state })] });

export function journalSuite(open: OpenEmptyStore): void {
  describe('Journal', () => {
    it('applies a batch with its entry, once', async () => {
      const { engine } = await open();
      expect(await engine.commitJournaled(entry(1, ['a']), saying('one'))).toEqual({ kind: 'applied' });
      expect(await engine.commitJournaled(entry(1, ['a']), saying('again'))).toEqual({ kind: 'applied' });
      expect((await engine.load(SANDBOX))?.state).toBe('one');
    });

    it('answers other inputs with the first ones, and applies nothing', async () => {
      const { engine } = await open();
      const inputs = [{ kind: 'envelope', text: 'naïve \u0000 \ud800', at: 1.5 }, null];
      await engine.commitJournaled(entry(1, inputs), saying('one'));
      const verdict = await engine.commitJournaled(entry(1, []), saying('two'));
      expect(verdict).toEqual({ kind: 'different', inputs });
      expect((await engine.load(SANDBOX))?.state).toBe('one');
    });

    it('keeps the entries that are not settled, and tells one that comes too late that it is overtaken', async () => {
      const { engine } = await open();
      for (const [number, settled] of [
        [1, 0],
        [2, 0],
        [3, 1],
      ] as const)
        await engine.commitJournaled(entry(number, [number], settled), saying(`${number}`));
      expect(await engine.commitJournaled(entry(2, []), saying('late'))).toEqual({
        kind: 'different',
        inputs: [2],
      });
      expect(await engine.commitJournaled(entry(1, [1]), saying('late'))).toEqual({ kind: 'overtaken' });
      expect((await engine.load(SANDBOX))?.state).toBe('3');
    });

    it('says the latest number of an entity, and 0 of one it holds nothing of', async () => {
      const { engine } = await open();
      expect(await engine.latest(SANDBOX)).toBe(0);
      for (const number of [9, 10]) await engine.commitJournaled(entry(number, [], 9), saying('one'));
      expect([await engine.latest(SANDBOX), await engine.latest(OTHER)]).toEqual([10, 0]);
    });

    it('holds no more when what it held is settled', async () => {
      const { engine, journal } = await open();
      for (let number = 1; number <= 10; number += 1)
        await engine.commitJournaled(entry(number, [number], Math.max(0, number - 2)), batch({}));
      expect(await journal.held(SANDBOX)).toEqual({ entities: 1, entries: 2 });
    });

    it('counts for each entity by itself', async () => {
      const { engine } = await open();
      await engine.commitJournaled(entry(7, ['a']), saying('one'));
      const other = { ...entry(1, ['b']), entity: OTHER };
      expect(await engine.commitJournaled(other, batch({}))).toEqual({ kind: 'applied' });
    });

    it('forgets one entity or all, says how much, and lets be said again what it had held as past', async () => {
      const { engine, journal } = await open();
      for (const number of [1, 2]) await engine.commitJournaled(entry(number, [number]), batch({}));
      await engine.commitJournaled({ ...entry(5, ['b']), entity: OTHER }, batch({}));
      expect(await journal.held(null)).toEqual({ entities: 2, entries: 3 });
      expect(await journal.held(OTHER)).toEqual({ entities: 1, entries: 1 });
      expect((await engine.commitJournaled(entry(1, ['anew']), batch({}))).kind).toBe('different');

      expect(await journal.forget(SANDBOX)).toEqual({ entities: 1, entries: 2 });
      expect(await engine.commitJournaled(entry(1, ['anew']), saying('anew'))).toEqual({ kind: 'applied' });
      expect((await engine.load(SANDBOX))?.state).toBe('anew');
      expect((await engine.commitJournaled({ ...entry(4, []), entity: OTHER }, batch({}))).kind).toBe(
        'overtaken',
      );
      expect(await journal.forget(null)).toEqual({ entities: 2, entries: 2 });
      expect(await journal.forget(null)).toEqual({ entities: 0, entries: 0 });
    });

    it('has one first of two that come at once', async () => {
      const { engine } = await open();
      const verdicts = await Promise.all(
        ['a', 'b'].map(async (name) => {
          for (;;) {
            const found = await engine
              .commitJournaled(entry(1, [name]), saying(name))
              .catch((error: Error) => error);
            if (!(found instanceof Error)) return found;
          }
        }),
      );
      const first = (await engine.load(SANDBOX))?.state;
      expect(verdicts.map(({ kind }) => kind).sort()).toEqual(['applied', 'different']);
      expect(verdicts.find(({ kind }) => kind === 'different')).toEqual({
        kind: 'different',
        inputs: [first],
      });
    });

    it('lets any execution that heeds the answers say what the first one said', async () => {
      const step = fc.record({ isLost: fc.boolean(), input: fc.integer() });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const { engine } = await open();
          const said: number[] = [];
          for (const [index, { isLost, input }] of steps.entries()) {
            await engine.commitJournaled(entry(index + 1, [input], index - 1), saying(`${input}`));
            said.push(input);
            if (!isLost) continue;
            // An execution after a kill has other inputs, and receives those that count.
            const again = await engine.commitJournaled(entry(index + 1, [input + 1], index - 1), batch({}));
            expect(again).toEqual({ kind: 'different', inputs: [input] });
          }
          const last = said.at(-1);
          expect((await engine.load(SANDBOX))?.state).toEqual(last === undefined ? undefined : `${last}`);
        }),
        { numRuns: 10 },
      );
    });
  });
}
