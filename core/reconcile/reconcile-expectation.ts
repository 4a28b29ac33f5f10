/**
 * What a job or a user expects of a reconciliation, such as `unmatched<=1%`.
 * Owns the notation and the comparison, which is exact; must not print.
 */
import { decimalToUsd, parseDecimal, type NanoUsd } from '../money/money.ts';

/** Amounts may be bounded in USD or as a share of all rows, charges and credits alike by their size. */
export const AMOUNT_MEASURES = ['unmatched', 'ambiguous', 'unassigned'] as const;
/** Counts are bounded by a count. */
export const COUNT_MEASURES = ['unbilled', 'unpriced', 'duplicates', 'late'] as const;

type AmountMeasure = (typeof AMOUNT_MEASURES)[number];
type CountMeasure = (typeof COUNT_MEASURES)[number];

/** What the result of a reconciliation must keep to. */
export type Expectation =
  /** At most `digits` / 10^`scale` percent. */
  | {
      readonly kind: 'share';
      readonly measure: AmountMeasure;
      readonly digits: bigint;
      readonly scale: number;
    }
  | { readonly kind: 'amount'; readonly measure: AmountMeasure; readonly max: NanoUsd }
  | { readonly kind: 'count'; readonly measure: CountMeasure; readonly max: number };

/** What expectations are compared with: sizes in nano-USD, and counts. */
export type Measured = Readonly<Record<AmountMeasure, bigint>> &
  Readonly<Record<CountMeasure, number>> & {
    /** The size of all rows. */
    readonly whole: bigint;
  };

/** Null when the text is none: `MEASURE<=BOUND`, with spaces around the sign or without. */
export function parseExpectation(text: string): Expectation | null {
  const [, name = '', bound = '', percent] = /^\s*([a-z]+)\s*<=\s*(\S+?)\s*(%?)\s*$/.exec(text) ?? [];
  const decimal = parseDecimal(bound);
  if (decimal === null || decimal.isNegative) return null;
  const amount = AMOUNT_MEASURES.find((measure) => measure === name);
  if (amount !== undefined) {
    const { digits, scale } = decimal;
    if (percent === '%') return { kind: 'share', measure: amount, digits, scale };
    const max = decimalToUsd(decimal);
    return max === null ? null : { kind: 'amount', measure: amount, max };
  }
  const count = COUNT_MEASURES.find((measure) => measure === name);
  if (count === undefined || percent === '%' || !/^\d{1,15}$/.test(bound)) return null;
  return { kind: 'count', measure: count, max: Number(bound) };
}

/** Whether what was measured is within it. */
export function isKept(expectation: Expectation, measured: Measured): boolean {
  switch (expectation.kind) {
    case 'amount':
      return measured[expectation.measure] <= BigInt(expectation.max);
    case 'count':
      return measured[expectation.measure] <= expectation.max;
    case 'share': {
      const found = measured[expectation.measure];
      return found * 100n * 10n ** BigInt(expectation.scale) <= expectation.digits * measured.whole;
    }
  }
}
