/**
 * How an item ended, as people say it.
 * Owns the words of outcomes and failure classes; machines read those of core/status.ts.
 */
import type { RunItemRow } from '../core/machine/projection.ts';
import type { FailureClass, Outcome } from '../core/status.ts';

const OUTCOME_WORDS = {
  succeeded: 'Succeeded',
  check_failed: 'Check failed',
  limit_reached: 'Limit reached',
  waiting: 'Waiting',
  failed: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped',
  not_needed: 'Not needed',
} as const satisfies Readonly<Record<Outcome, string>>;

const CLASS_WORDS = {
  agent_error: 'the agent had an error',
  stuck: 'the agent was stuck',
  infra: 'the sandbox or the service',
  rate_limited: 'the gateway limited calls',
  quota: 'the quota of the gateway was used up',
  refused: 'it was refused',
  budget: 'the budget was used up',
  timeout: 'it took too long',
  cancelled: 'somebody cancelled it',
} as const satisfies Readonly<Record<FailureClass, string>>;

type Ended = Pick<RunItemRow, 'phase' | 'outcome' | 'failureClass'>;

/** `Check failed`; of one that has not ended what it does: `Working`. */
export function outcomeWords(row: Ended | null): string {
  if (row?.phase === 'ended') return row.outcome === null ? 'Ended' : OUTCOME_WORDS[row.outcome];
  const phase = row?.phase ?? 'waiting';
  return `${phase.charAt(0).toUpperCase()}${phase.slice(1)}`;
}

/** With its class where it says more: `Failed: the agent was stuck`. */
export function failureWords(row: Ended | null): string {
  const words = outcomeWords(row);
  if (row?.failureClass == null || row.failureClass === row.outcome) return words;
  return `${words}: ${CLASS_WORDS[row.failureClass]}`;
}
