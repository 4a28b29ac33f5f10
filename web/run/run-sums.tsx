/**
 * The sums of a run: items by outcome, time, spend, and the result of reconciliation.
 * Owns the figures that are shown.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Sum, When } from '../components/parts.tsx';
import { usdOfNano } from '../text/money.ts';
import { durationBetween } from '../text/time.ts';
import { labelOf } from '../text/words.ts';
import type { RunRecord } from './run-phase.ts';

export function RunSums({ run }: { readonly run: RunRecord }): ReactElement {
  const ended = Object.entries(run.ended).filter(([, count]) => count > 0);
  const { reconciliation } = run;
  return (
    <dl className="sums">
      <Sum name="Spend" note={run.budget === null ? undefined : `of ${usdOfNano(run.budget.limit_nano_usd)}`}>
        {usdOfNano(run.spent_nano_usd)}
      </Sum>
      <Sum name="Time">{durationBetween(run.created_at, run.ended_at)}</Sum>
      <Sum name="Items">{run.total}</Sum>
      <Sum name="At work">{run.in_flight}</Sum>
      <Sum name="Waiting">{run.waiting}</Sum>
      {ended.map(([outcome, count]) => (
        <Sum key={outcome} name={labelOf(outcome)}>
          {count}
        </Sum>
      ))}
      {reconciliation === null ? null : (
        <Sum name="Reconciled" note={toleranceWords(reconciliation.within_tolerance)}>
          {usdOfNano(Number(reconciliation.assigned_nano_usd))}
        </Sum>
      )}
    </dl>
  );
}

/** Null: the job sets no bound. */
function toleranceWords(isWithin: boolean | null): string {
  if (isWithin === null) return 'no bound is set';
  return isWithin ? 'within tolerance' : 'outside tolerance';
}

/** What happened to a run as a whole. */
export function RunEvents({ events }: { readonly events: ResultOf<'list_run_events'> }): ReactElement | null {
  if (events.length === 0) return null;
  return (
    <section aria-label="What happened">
      <h2>What happened</h2>
      <ol className="happened card">
        {events.map(({ at, code, detail }) => (
          <li key={`${at}${code}${detail}`}>
            <When at={at} /> <strong>{labelOf(code)}</strong> {detail}
          </li>
        ))}
      </ol>
    </section>
  );
}
