/**
 * How a conversation takes its agent's word about where it stands.
 * Owns which report is news and what it says about the work; must not order anything of the agent.
 */
import { RATE_LIMIT_WAIT_MS } from '../limits.ts';
import type { AgentActivity, SandboxSnapshot } from '../machine/snapshot.ts';
import type { AgentReport } from './message.ts';
import { stopWatching, type ConversationContext } from './conversation-context.ts';

const ACTIVITY: Readonly<Record<AgentReport['status'], AgentActivity>> = {
  IDLE: 'resting',
  RUNNING: 'working',
  PAUSED: 'resting',
  WAITING_FOR_CONFIRMATION: 'confirmation',
  FINISHED: 'resting',
  ERROR: 'resting',
  STUCK: 'resting',
};

/** Takes an agent's report when it is news and of this incarnation (D14). */
export function takeReport(context: ConversationContext, report: AgentReport): void {
  const { state } = context;
  const { sandbox } = state;
  if (sandbox === null || report.generation !== sandbox.generation) return;
  if (state.executionStatusAt !== null && report.at < state.executionStatusAt) return;
  // Its last word before the stop says whether it was cut off; at work where nothing runs it was (D15).
  const isCutOff = report.status === 'RUNNING' && !sandbox.usable;
  if (isCutOff || (report.status !== 'RUNNING' && isGoingDown(sandbox))) state.interrupted = isCutOff;
  state.executionStatus = report.status;
  state.executionStatusAt = report.at;
  state.executionDetail = report.detail;
  state.limitReached = report.limitReached ?? state.limitReached;
  const limited = report.status === 'PAUSED' && report.pausedReason === 'rate_limit';
  state.agentActivity = limited ? 'rate_limit' : isCutOff ? 'resting' : ACTIVITY[report.status];
  state.recheckAt = limited ? (report.retryAt ?? context.now + RATE_LIMIT_WAIT_MS) : null;
  if (report.status !== 'RUNNING') stopWatching(context);
}

/** Stopping or stopped, and not yet on its way to the next incarnation. */
function isGoingDown(sandbox: SandboxSnapshot): boolean {
  return !sandbox.usable && sandbox.transition !== 'resuming';
}
