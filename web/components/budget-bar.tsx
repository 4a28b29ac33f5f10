/**
 * What is spent of a limit, and what is held.
 * Owns the bar, which is the browser's own; the same is said in words beside it.
 */
import type { ReactElement } from 'react';
import { usdOfNano } from '../text/money.ts';

export interface BudgetBarProps {
  readonly label: string;
  /** Nano-USD, as the others. */
  readonly spent: number;
  readonly held: number;
  /** Null: there is none. */
  readonly limit: number | null;
}

export function BudgetBar({ label, spent, held, limit }: BudgetBarProps): ReactElement {
  if (limit === null) return <span>{usdOfNano(spent)}</span>;
  return (
    <span className="budget">
      <meter
        aria-label={label}
        min={0}
        max={Math.max(1, limit)}
        high={limit * 0.8}
        value={Math.min(limit, spent + held)}
      />
      <span>
        {usdOfNano(spent)} of {usdOfNano(limit)}
        {held === 0 ? '' : `, ${usdOfNano(held)} held`}
      </span>
    </span>
  );
}
