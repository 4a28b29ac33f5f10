/**
 * The closed vocabularies of the specification, in its own spelling.
 * Owns the words; must not own a transition.
 */

/** Lifecycle of a sandbox as users see it (spec "Sandbox status"). */
export const SANDBOX_STATUSES = ['STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'] as const;
export type SandboxStatus = (typeof SANDBOX_STATUSES)[number];

/** What the agent is doing (spec "Agent execution status"). */
export const EXECUTION_STATUSES = [
  'IDLE',
  'RUNNING',
  'PAUSED',
  'WAITING_FOR_CONFIRMATION',
  'FINISHED',
  'ERROR',
  'STUCK',
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** Statuses of a start task in their order (D18). `READY` and `ERROR` are final. */
export const START_TASK_STATUSES = [
  'WORKING',
  'WAITING_FOR_SANDBOX',
  'PREPARING_REPOSITORY',
  'RUNNING_SETUP_SCRIPT',
  'SETTING_UP_GIT_HOOKS',
  'SETTING_UP_SKILLS',
  'STARTING_CONVERSATION',
  'READY',
  'ERROR',
] as const;
export type StartTaskStatus = (typeof START_TASK_STATUSES)[number];

/** Why a sandbox is `PAUSED` (D6). The first two leave the runtime up; the others released it. */
export const PAUSE_REASONS = [
  'confirmation',
  'rate_limit',
  'idle',
  'session_limit',
  'user',
  'capacity',
] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];
export type AgentPauseReason = Extract<PauseReason, 'confirmation' | 'rate_limit'>;
export type ReleaseReason = Exclude<PauseReason, AgentPauseReason>;

/** Whether a pause for that reason stops the runtime. */
export function isReleaseReason(reason: PauseReason): reason is ReleaseReason {
  return reason !== 'confirmation' && reason !== 'rate_limit';
}

/** What is going on behind an unchanged public status (D8). */
export type Transition = 'pausing' | 'resuming' | 'archiving' | 'deleting';

/** Where a conversation goes when nothing is said about a sandbox (D16). */
export const GROUPING_STRATEGIES = [
  'NO_GROUPING',
  'GROUP_BY_NEWEST',
  'LEAST_RECENTLY_USED',
  'FEWEST_CONVERSATIONS',
  'ADD_TO_ANY',
] as const;
export type GroupingStrategy = (typeof GROUPING_STRATEGIES)[number];

/** The one class a failed attempt of a batch item has; retry rules and the breaker speak of these. */
export const FAILURE_CLASSES = [
  'agent_error',
  'stuck',
  'infra',
  'rate_limited',
  'quota',
  'refused',
  'budget',
  'timeout',
  'cancelled',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** How a batch item ended. Never written into `execution_status` (D28). */
export const OUTCOMES = [
  'succeeded',
  'check_failed',
  'limit_reached',
  'waiting',
  'failed',
  'cancelled',
  'skipped',
  'not_needed',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Whether nothing went wrong: it succeeded, or it was for a failure that did not come. Null has not ended. */
export function endedWell(outcome: Outcome | null | undefined): boolean {
  return outcome === 'succeeded' || outcome === 'not_needed';
}

/** How many have ended so. */
export function countWell({
  succeeded = 0,
  not_needed: unneeded = 0,
}: Partial<Record<Outcome, number>>): number {
  return succeeded + unneeded;
}
