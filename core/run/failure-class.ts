/**
 * How an attempt ends, decided in one place from what was seen: outcome, failure class, and the evidence beside them.
 * Owns every failure class that a run gives; must not decide what follows from one.
 * A limit that was reached is an outcome and no failure (D28).
 */
import { HOST_LOST } from '../machine/projection.ts';
import type { LimitReached } from '../machine/snapshot.ts';
import type { ExecutionStatus, FailureClass, SandboxStatus } from '../status.ts';
import { UNKNOWN_MODEL } from '../unknown-model.ts';
import type { Ending } from './state.ts';

/** What was seen of an attempt that is over, or is going to be. */
export type Evidence =
  | { readonly seen: 'start_refused'; readonly reason: string }
  | { readonly seen: 'start_failed'; readonly detail: string | null }
  | { readonly seen: 'conversation_deleted' }
  | { readonly seen: 'sandbox_lost'; readonly status: SandboxStatus; readonly detail: string | null }
  | { readonly seen: 'agent_rests'; readonly status: ExecutionStatus; readonly detail: string | null }
  | { readonly seen: 'limit_reached'; readonly limit: LimitReached | 'working' | 'session_limit' }
  | { readonly seen: 'cut_off_too_often' }
  | { readonly seen: 'deadline_passed' }
  | { readonly seen: 'agent_did_not_stop' }
  | { readonly seen: 'verify_failed'; readonly reason: string }
  | { readonly seen: 'collect_failed'; readonly reason: string }
  | { readonly seen: 'budget_exceeded' }
  | { readonly seen: 'cancelled' };

export function endingOf(evidence: Evidence): Ending {
  switch (evidence.seen) {
    case 'start_refused':
      return failed('infra', evidence.reason);
    case 'start_failed':
      return {
        ...failed(startFailureClass(evidence.detail), evidence.detail),
        ...(evidence.detail === LOST_AT_START ? { isHostLost: true } : {}),
      };
    case 'conversation_deleted':
      return failed('cancelled', 'the conversation was deleted');
    case 'sandbox_lost':
      return lostSandbox(evidence);
    case 'agent_rests':
      return restingAgent(evidence.status, evidence.detail);
    case 'limit_reached':
      // An agent that does nothing is stuck, whichever watch reports it.
      if (evidence.limit === 'no_progress') return failed('stuck', 'no_progress');
      return { outcome: 'limit_reached', failureClass: null, detail: evidence.limit };
    case 'cut_off_too_often':
      return failed('timeout', 'the work was cut off too often');
    case 'deadline_passed':
      return failed('timeout', 'the deadline of the job');
    case 'agent_did_not_stop':
      return failed('timeout', 'the agent did not stop');
    case 'verify_failed':
      return failed('infra', evidence.reason);
    case 'collect_failed':
      return failed('infra', `collect_failed: ${evidence.reason}`);
    case 'budget_exceeded':
      return { outcome: 'cancelled', failureClass: 'budget', detail: 'the budget of the run' };
    case 'cancelled':
      return { outcome: 'cancelled', failureClass: 'cancelled', detail: null };
  }
}

function failed(failureClass: FailureClass, detail: string | null): Ending {
  return { outcome: 'failed', failureClass, detail };
}

/** The detail of a start that fails because its sandbox is MISSING, and that because its host was given up. */
const LOST_AT_START = `sandbox_missing: ${HOST_LOST}`;

function lostSandbox({ status, detail }: Extract<Evidence, { seen: 'sandbox_lost' }>): Ending {
  const ending = failed('infra', `the sandbox is ${status}: ${detail ?? 'no reason given'}`);
  return status === 'MISSING' && detail === HOST_LOST ? { ...ending, isHostLost: true } : ending;
}

/** Placement refusals for lack of room are no failures of the work: they are tried again as rate limited. */
const CAPACITY_CODES = ['concurrency_limit_reached', 'pool_full'] as const;

/** Git's messages about a host, a repository, a branch or a credential that a further try will not change (D32). */
const GIT_REFUSAL =
  /^repository_failed\b.*(authentication failed|could not resolve host|repository .*not found|remote branch .*not found|returned error: 40[134]\b)/is;

function startFailureClass(detail: string | null): FailureClass {
  if (GIT_REFUSAL.test(detail ?? '')) return 'refused';
  return CAPACITY_CODES.some((code) => detail?.startsWith(code) === true) ? 'rate_limited' : 'infra';
}

function restingAgent(status: ExecutionStatus, detail: string | null): Ending {
  switch (status) {
    case 'FINISHED':
      return { outcome: 'succeeded', failureClass: null, detail: null };
    case 'STUCK':
      return failed('stuck', detail);
    case 'ERROR':
      return failed(errorClass(detail), detail);
    case 'IDLE':
    case 'RUNNING':
    case 'PAUSED':
    case 'WAITING_FOR_CONFIRMATION':
      return { outcome: 'waiting', failureClass: null, detail: `the agent is ${status}` };
  }
}

/**
 * An agent ends in `ERROR` for its own reasons and for those of the model behind it: its detail begins with a code
 * word. Without such a word the status of the refused call decides; an account that is used up answers with 402, or
 * with a 429 that names the quota.
 */
const BY_DETAIL: readonly (readonly [RegExp, FailureClass])[] = [
  // A budget may be refused with the status of a quota; its name sets it apart.
  [/\bbudget_exceeded\b|\bExceededBudget\b/, 'budget'],
  [/^LLMQuotaError\b|\binsufficient_quota\b|\bquota_exceeded\b|: status 402\b/, 'quota'],
  [/^LLM(Authentication|NotFound)Error\b|\bgateway_host_unknown\b|: status 40[134]\b/, 'refused'],
  // Many gateways answer 400 to a model that they do not have, as to any call that is wrong in itself.
  [new RegExp(`^LLMBadRequestError\\b.*(?:${UNKNOWN_MODEL.source})`, 'is'), 'refused'],
  [/^LLMRateLimitError\b|: status 429\b/, 'rate_limited'],
  [/^(LLMServiceUnavailableError|Interrupted)\b|: status 5\d\d\b/, 'infra'],
];

function errorClass(detail: string | null): FailureClass {
  const rule = BY_DETAIL.find(([pattern]) => pattern.test(detail ?? ''));
  return rule === undefined ? 'agent_error' : rule[1];
}
