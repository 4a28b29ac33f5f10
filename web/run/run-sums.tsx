/**
 * The sums of a run: items by outcome, time, spend, and what reconciliation came to.
 * Owns the figures that are shown.
 */
import type { ReactElement } from 'react';
import { Sum } from '../components/sum.tsx';
import { usdOfNano } from '../text/money.ts';
import { duration, parsedInstant } from '../text/time.ts';
import { labelOf } from '../text/words.ts';
import type { RunRecord } from './run-types.ts';

export function RunSums({ run }: { readonly run: RunRecord }): ReactElement {
  const ended = Object.entries(run.ended).filter(([, count]) => count > 0);
  const until = run.ended_at === null ? Date.now() : parsedInstant(run.ended_at);
  const { reconciliation } = run;
  return (
    <dl className="sums">
      <Sum name="Spend">
        {usdOfNano(run.spent_nano_usd)}
        {run.budget === null ? null : <small>of {usdOfNano(run.budget.limit_nano_usd)}</small>}
      </Sum>
      <Sum name="Time">{duration(until - parsedInstant(run.created_at))}</Sum>
      <Sum name="Items">{run.total}</Sum>
      <Sum name="At work">{run.in_flight}</Sum>
      <Sum name="Waiting">{run.waiting}</Sum>
      {ended.map(([outcome, count]) => (
        <Sum key={outcome} name={labelOf(outcome)}>
          {count}
        </Sum>
      ))}
      {reconciliation === null ? null : (
        <Sum name="Reconciled">
          {usdOfNano(Number(reconciliation.assigned_nano_usd))}
          <small>{toleranceWords(reconciliation.within_tolerance)}</small>
        </Sum>
      )}
    </dl>
  );
}

/** Null: nobody set a bound. */
function toleranceWords(isWithin: boolean | null): string {
  if (isWithin === null) return 'no bound is set';
  return isWithin ? 'within tolerance' : 'outside tolerance';
}
