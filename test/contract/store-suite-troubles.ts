/** The contract of Troubles: one row per entity, item and try; the newest word wins, and `since` is the first one's. */
import { describe, expect, it } from 'vitest';
import type { FailedTry } from '../../ports/troubles.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const KEY = { about: { machine: 'run', id: 'run-1' }, item: 'one', what: 'collectItem' } as const;
const failed = (at: number, change: Partial<FailedTry> = {}): FailedTry => ({
  ...KEY,
  cause: 'the disk is full',
  tries: 1,
  nextAt: at + 500,
  at,
  ...change,
});

export function troubleSuite(open: OpenEmptyStore): void {
  describe('Troubles', () => {
    it('keeps since over later tries, and begins anew after its end', async () => {
      const { troubles } = await open();
      await troubles.failed(failed(1_000));
      await troubles.failed(failed(2_000, { tries: 2, cause: 'still full' }));
      const { at: _at, ...second } = failed(2_000, { tries: 2, cause: 'still full' });
      expect(await troubles.open()).toEqual([{ ...second, since: 1_000 }]);
      await troubles.over(KEY, 3_000);
      await troubles.over(KEY, 3_000);
      expect(await troubles.open()).toEqual([]);
      await troubles.failed(failed(4_000));
      expect(await troubles.open()).toMatchObject([{ since: 4_000, tries: 1 }]);
    });

    it('lets no older word win, neither of a try nor of an end', async () => {
      const { troubles } = await open();
      await troubles.failed(failed(2_000, { tries: 5 }));
      await troubles.failed(failed(1_000, { tries: 4 }));
      await troubles.over(KEY, 1_500);
      expect(await troubles.open()).toMatchObject([{ since: 2_000, tries: 5 }]);
      await troubles.over(KEY, 3_000);
      await troubles.failed(failed(2_500));
      expect(await troubles.open()).toEqual([]);
    });

    it('has one for each item and each thing that is tried, the newest first', async () => {
      const { troubles } = await open();
      await troubles.failed(failed(1_000));
      await troubles.failed(failed(2_000, { item: 'two' }));
      await troubles.failed(failed(3_000, { item: null, what: 'reportRun' }));
      expect((await troubles.open()).map(({ item, what }) => [item, what])).toEqual([
        [null, 'reportRun'],
        ['two', 'collectItem'],
        ['one', 'collectItem'],
      ]);
    });
  });
}
