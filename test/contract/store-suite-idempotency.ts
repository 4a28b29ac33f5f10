/** The contract of IdempotencyKeys: a key stands for one request, of whichever came first, for a day. */
import { describe, expect, it } from 'vitest';
import { userId } from '../../core/ids.ts';
import type { KeyUse } from '../../ports/idempotency-keys.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const HOUR_MS = 3_600_000;
const use = (change: Partial<KeyUse> = {}): KeyUse => ({
  ...{ userId: userId('ada'), target: 'sandbox/1', key: 'k', mark: 'first', at: 1_000 },
  ...change,
});

export function idempotencySuite(open: OpenEmptyStore): void {
  describe('IdempotencyKeys', () => {
    it('gives a key to one request, and each user and target keys of their own', async () => {
      const { idempotencyKeys: keys } = await open();
      expect(await keys.claim(use())).toBe(true);
      expect(await keys.claim(use({ at: 2_000 }))).toBe(true);
      expect(await keys.claim(use({ mark: 'second' }))).toBe(false);
      expect(await keys.claim(use({ mark: 'second', key: 'K' }))).toBe(true);
      expect(await keys.claim(use({ mark: 'second', target: 'sandbox/2' }))).toBe(true);
      expect(await keys.claim(use({ mark: 'second', userId: userId('ben') }))).toBe(true);
      expect(await keys.claim(use())).toBe(true);
    });

    it('lets one of many at once be the first', async () => {
      const { idempotencyKeys: keys } = await open();
      const marks = Array.from({ length: 8 }, (_, index) => `mark ${index}`);
      const taken = await Promise.all(marks.map((mark) => keys.claim(use({ mark }))));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await keys.claim(use({ mark: marks[taken.indexOf(true)] ?? '' }))).toBe(true);
    });

    it('remembers a key for a day since its last use by its own request', async () => {
      const { idempotencyKeys: keys } = await open();
      await keys.claim(use({ at: 0 }));
      await keys.claim(use({ at: 20 * HOUR_MS }));
      expect(await keys.claim(use({ mark: 'second', at: 43 * HOUR_MS }))).toBe(false);
      expect(await keys.claim(use({ mark: 'second', at: 44 * HOUR_MS }))).toBe(true);
      expect(await keys.claim(use({ at: 45 * HOUR_MS }))).toBe(false);
    });
  });
}
