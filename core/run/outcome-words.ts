/**
 * How a conversation of a run ended, in words for readers who do not know the vocabulary: a label, and a sentence.
 * Owns the wording of every outcome and failure class; must not lay anything out.
 */
import type { RunItemRow } from '../machine/projection.ts';
import type { FailureClass, Outcome } from '../status.ts';

const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  succeeded: 'Succeeded',
  check_failed: 'Check failed',
  limit_reached: 'Limit reached',
  waiting: 'Waiting',
  failed: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped',
  not_needed: 'Not needed',
};

const OUTCOME_SENTENCES: Readonly<Record<Exclude<Outcome, 'failed'>, string>> = {
  succeeded: 'The agent finished, and what the job checks holds',
  check_failed: 'The agent finished, but the check of the job failed',
  limit_reached: 'It reached a limit of the job before it was done',
  waiting: 'The agent waits for a person',
  cancelled: 'It was cancelled',
  skipped: 'It did not begin, because what it needs did not end well',
  not_needed: 'It was not needed: it is for a failure that did not come',
};

const FAILURE_SENTENCES: Readonly<Record<FailureClass, string>> = {
  agent_error: 'The agent ended with an error',
  stuck: 'The agent made no more progress',
  infra: 'Its sandbox, or what it runs on, failed',
  rate_limited: 'The model was asked too often and answered no more',
  quota: 'The account at the model is used up',
  refused: 'The model, or the gateway before it, refused the call',
  budget: 'The budget of the run is used up',
  timeout: 'It was not done in time',
  cancelled: 'It was cancelled',
};

/** `Check failed`; of one that has not ended its phase: `Working`. Null: it was never projected. */
export function outcomeLabel(row: Pick<RunItemRow, 'phase' | 'outcome'> | null): string {
  if (row?.phase === 'ended') return row.outcome === null ? 'Ended' : OUTCOME_LABELS[row.outcome];
  const phase = row?.phase ?? 'waiting';
  return `${phase.charAt(0).toUpperCase()}${phase.slice(1)}`;
}

/** Without a period; what it is doing when it has not ended. */
export function outcomeSentence({ phase, outcome, failureClass, attempt }: RunItemRow): string {
  if (phase !== 'ended') {
    if (phase === 'waiting')
      return attempt === 0 ? 'It has not begun yet' : `It begins again: attempt ${attempt} ended`;
    return `It has not ended yet: ${phase}`;
  }
  if (outcome === 'failed') return failureClass === null ? 'It failed' : FAILURE_SENTENCES[failureClass];
  return outcome === null ? 'It ended' : OUTCOME_SENTENCES[outcome];
}
