/**
 * The result of a run, in one sentence each for its work and for its money.
 * Owns the verdicts; must not lay anything out.
 */
import type { ReconciliationDone } from '../core/reconcile/reconciliation-record.ts';
import { counted } from '../core/text/counted.ts';
import { unsuccessfulOf, type RunRow } from '../core/machine/projection.ts';
import { countEnded } from '../core/run/run-words.ts';
import { ExactSum, writtenSum } from '../core/money/usd-sum.ts';
import type { Tone } from './document.ts';
import type { ReportData } from './report-data.ts';
import { nanoWords, usdWords } from './report-words.ts';

/** The result of the run, in a few words. */
export interface Verdict {
  readonly words: string;
  readonly tone: Tone;
}

/** The beginning of a report. */
export function reportVerdicts(data: ReportData): readonly Verdict[] {
  return [workVerdict(data), moneyVerdict(data)].filter((one) => one !== null);
}

export function workVerdict({ run, toleratedFailures }: ReportData): Verdict {
  const ended = countEnded(run);
  const succeeded = run.ended.succeeded ?? 0;
  const all = counted(run.total, 'conversation');
  if (ended < run.total) {
    const why = restReason(run);
    return {
      words: `Incomplete: ${run.total - ended} of ${all} ${ended === run.total - 1 ? 'has' : 'have'} not ended${why}`,
      tone: 'bad',
    };
  }
  const failed = unsuccessfulOf(run);
  const forgiven =
    (run.forgiven ?? 0) === 0 ? '' : `, ${run.forgiven} forgiven: their items succeeded as a whole`;
  if (failed === 0) {
    const unneeded = run.ended.not_needed ?? 0;
    const beside = unneeded === 0 ? '' : `, ${unneeded} not needed`;
    return { words: `Succeeded: ${succeeded} of ${all}${beside}${forgiven}`, tone: 'good' };
  }
  const tolerated = toleratedFailures === 0 ? '' : `, ${toleratedFailures} tolerated`;
  if (failed <= toleratedFailures)
    return {
      words: `Within tolerance: ${failed} of ${all} did not succeed${tolerated}${forgiven}`,
      tone: 'good',
    };
  return { words: `Failed: ${failed} of ${all} did not succeed${tolerated}${forgiven}`, tone: 'bad' };
}

function restReason({ mode, reason }: RunRow): string {
  if (mode === 'normal') return '';
  return reason === null || reason === mode ? ` (${mode})` : ` (${mode}: ${reason})`;
}

/** Null when neither the job nor a user requested a reconciliation. */
export function moneyVerdict({ reconciliation, asksReconciliation, run }: ReportData): Verdict | null {
  if (reconciliation === null) {
    if (!asksReconciliation) return null;
    const isLate = run.phase === 'reporting' || run.phase === 'finished';
    return isLate
      ? { words: 'Not reconciled: there is no reconciliation.json; `parley reconcile` makes it', tone: 'bad' }
      : { words: 'Not reconciled yet: that is done when all conversations have ended', tone: 'plain' };
  }
  if (reconciliation.kind === 'failed')
    return { words: `Not reconciled: ${reconciliation.code}: ${reconciliation.message}`, tone: 'bad' };
  return toleranceVerdict(reconciliation);
}

function toleranceVerdict({ summary, unmatchedNanoUsdMax, unbilledMax }: ReconciliationDone): Verdict {
  if (unmatchedNanoUsdMax === null && unbilledMax === undefined)
    return { words: 'Reconciled: the job sets no bound on what may stay unmatched', tone: 'plain' };
  const bounds = [
    ...(unmatchedNanoUsdMax === null ? [] : [`${usdWords(unmatchedNanoUsdMax)} may stay unmatched`]),
    ...(unbilledMax === undefined ? [] : [`${counted(unbilledMax, 'call')} may stay unbilled`]),
  ];
  const bound = bounds.join(', ');
  return summary.withinTolerance
    ? { words: `Reconciled within tolerance: ${bound}`, tone: 'good' }
    : { words: `Reconciled outside tolerance: ${bound}`, tone: 'bad' };
}

/** Recomputed from the parts, rows and conversations included: the report does not trust the recorded sums. */
export function sumVerdict({ result, rows }: ReconciliationDone): Verdict {
  const [total, assigned] = [BigInt(result.total), BigInt(result.assigned)];
  const rowSum = new ExactSum();
  for (const { cost } of rows) rowSum.add(cost);
  const perConversation = result.conversations.reduce((sum, one) => sum + BigInt(one.assigned), 0n);
  const off = [
    assigned + BigInt(result.ambiguous) + BigInt(result.unassigned) - total,
    rowSum.exact() - total,
    perConversation - assigned,
  ].find((difference) => difference !== 0n);
  if (off === undefined) {
    return {
      words:
        'It adds up: assigned + ambiguous + unassigned is the total of all rows, and the conversations sum to what is assigned, to the nano-dollar',
      tone: 'good',
    };
  }
  return {
    words: `It does not add up: ${nanoWords(writtenSum(off))} nano-dollars are between the parts and the total`,
    tone: 'bad',
  };
}
