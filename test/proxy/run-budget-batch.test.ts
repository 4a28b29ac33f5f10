/**
 * A real batch on the embedded engine whose reservations would let all begin: the proxy stops it once its enforced
 * budget is spent, and the bill exceeds it by no more than the calls in flight.
 */
import { describe, expect, it } from 'vitest';
import { ledgerRows, sumOf } from '../e2e/ledger.ts';
import { openUpgradeBatch, recordsIn } from '../e2e/upgrade-batch.ts';

const ITEMS = 6;
const AT_ONCE = 3;
/** Nano-USD: less than two conversations of the example cost. */
const BUDGET = 5_000_000n;
const ALL_MS_MAX = 600_000;

describe('a batch with an enforced budget that its reservations do not hold', () => {
  it(
    'is billed no more than its budget and the calls in flight when that was reached',
    async () => {
      const batch = await openUpgradeBatch({
        repositories: ITEMS,
        edits: [
          [
            'job.yaml',
            'budget: { usd: 350, mode: enforce, soft: 80% }',
            'budget: { usd: 0.005, reserve: 0.000001, mode: enforce }',
          ],
        ],
      });
      try {
        const limits = ['--limit', String(ITEMS), '--concurrency', String(AT_ONCE)];
        const end = await batch.run(['run', 'job.yaml', '--json', '--run-id', 'hard', ...limits]);
        const rows = ledgerRows(batch.copy);
        const billed = sumOf(rows);
        const dearest = rows.map((row) => sumOf([row])).reduce((a, b) => (a > b ? a : b), 0n);
        expect(billed).toBeGreaterThanOrEqual(BUDGET);
        expect(billed).toBeLessThan(BUDGET + BigInt(AT_ONCE) * dearest);
        const done = recordsIn(end.stdout).at(-1) as { readonly spent_nano_usd: number };
        expect(done.spent_nano_usd).toBe(Number(billed));
        const refused = recordsIn(end.stdout).filter(({ failure_class: failure }) => failure === 'budget');
        expect(refused.length, end.stderr).toBeGreaterThan(0);
      } finally {
        await batch.close();
      }
    },
    ALL_MS_MAX,
  );
});
