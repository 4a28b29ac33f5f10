/**
 * How much of the rows is matched, by size: a credit does not make up for an unexplained charge.
 * Owns the running sums; must not judge a row.
 */
import type { Measured } from '../../core/reconcile/reconcile-expectation.ts';
import type { ReconcileSums, RowVerdict } from '../../core/reconcile/reconcile-result.ts';
import { ExactSum } from '../../core/money/usd-sum.ts';

export class RowSizes {
  readonly unmatched = new ExactSum();
  /** Signed: a part of the unassigned amount. */
  readonly otherCallers = new ExactSum();
  private readonly whole = new ExactSum();
  private readonly ambiguous = new ExactSum();
  private readonly unassigned = new ExactSum();

  add(verdict: RowVerdict): void {
    const size = Math.abs(verdict.cost);
    this.whole.add(size);
    if (verdict.kind === 'assigned') return;
    this[verdict.kind].add(size);
    // A call that our proxy sent for another caller is matched: with that caller.
    if (verdict.kind === 'unassigned' && verdict.why === 'other_caller') this.otherCallers.add(verdict.cost);
    else this.unmatched.add(size);
  }

  /** What expectations are compared with. */
  measured({ counts: { unbilled, unpriced, duplicates, late } }: ReconcileSums): Measured {
    return {
      whole: this.whole.exact(),
      unmatched: this.unmatched.exact(),
      ambiguous: this.ambiguous.exact(),
      unassigned: this.unassigned.exact(),
      unbilled,
      unpriced,
      duplicates,
      late,
    };
  }
}
