/**
 * Sums of money that may exceed what a number holds exactly, about nine million USD in nano-USD.
 * Owns the exact running sum and its written form; must not round or print.
 */

/** An integer of nano-USD: a number, or its digits as a text where no number holds it exactly. */
export type UsdSum = number | string;

/** A number while it is a safe integer, else its decimal digits. */
export function writtenSum(sum: bigint): UsdSum {
  const small = Number(sum);
  return Number.isSafeInteger(small) ? small : sum.toString();
}

/** Exact, whatever the amounts are. */
export function addSums(...sums: readonly UsdSum[]): UsdSum {
  return writtenSum(sums.reduce((total, sum) => total + BigInt(sum), 0n));
}

/** By size, the larger one later. */
export function compareSums(a: UsdSum, b: UsdSum): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [BigInt(a), BigInt(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Counts in numbers as long as they are exact, which is fast; there may be millions of amounts. */
export class ExactSum {
  private small = 0;
  private large = 0n;

  /** The amount is a safe integer. */
  add(amount: number): void {
    const sum = this.small + amount;
    if (Number.isSafeInteger(sum)) {
      this.small = sum;
      return;
    }
    this.large += BigInt(this.small) + BigInt(amount);
    this.small = 0;
  }

  exact(): bigint {
    return this.large + BigInt(this.small);
  }

  written(): UsdSum {
    return this.large === 0n ? this.small : writtenSum(this.exact());
  }
}
