/**
 * The bills by which reconciliation is measured: 10,000 rows, each with a skew, with tokens and without, busy and not.
 * Owns the cases and their seeds.
 */
import type { BillShape, Troubles } from './made-bill.ts';

export interface BillCase {
  readonly name: string;
  readonly shape: BillShape;
}

const TROUBLES: Troubles = {
  repeats: 0.02,
  strangers: 0.05,
  lostIds: 0.04,
  lostRows: 0.02,
  credits: 0.01,
  cut: 0.01,
  alike: 0.05,
};
const HOUR_MS = 3_600_000;
const SKEWS = [
  { name: 'no skew', skewsMs: [0] },
  { name: '90 s of skew', skewsMs: [90_000] },
  { name: 'an hour of skew', skewsMs: [HOUR_MS] },
  { name: 'two clocks an hour apart', skewsMs: [0, HOUR_MS] },
] as const;
/** Hundreds of calls in each window, and less than one. */
const PACES = [
  { name: 'within two hours', spanMs: 2 * HOUR_MS },
  { name: 'over two months', spanMs: 60 * 24 * HOUR_MS },
] as const;
const COUNTED = [
  { name: 'with tokens', hasTokens: true },
  { name: 'without tokens', hasTokens: false },
] as const;

export const BILL_CASES: readonly BillCase[] = SKEWS.flatMap(({ name: skew, skewsMs }) =>
  PACES.flatMap(({ name: pace, spanMs }) =>
    COUNTED.map(({ name: counted, hasTokens }) => ({
      name: `${skew}, ${pace}, ${counted}`,
      shape: { skewsMs, spanMs, hasTokens, calls: 9_450, conversations: 400, troubles: TROUBLES },
    })),
  ),
).map(({ name, shape }, index) => ({ name, shape: { ...shape, seed: index + 1 } }));
