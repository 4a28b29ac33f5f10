/**
 * What a run may spend: reserved before an item begins, settled when its attempt ends.
 * Owns the comparison and what an exceeded budget does; must not begin anything.
 */
import { formatUsd, nanoUsd } from '../../money/money.ts';
import type { PlanBudget } from '../../plan/plan.ts';
import { hold } from './hold.ts';
import { changePace, paceOf } from './pace.ts';
import { itemsByPhase } from '../items-by-phase.ts';
import type { RunState } from '../state.ts';
import type { RunContext } from '../run-context.ts';

/** Spent and held and one more must fit (budget by reservation). */
export function fitsBudget(state: RunState): boolean {
  const { rules, spentNanoUsd } = state;
  if (rules.budget === null) return true;
  const { nanoUsd, reserveNanoUsd } = rules.budget;
  const held = itemsByPhase(state).inFlight.length * reserveNanoUsd;
  return spentNanoUsd + held + reserveNanoUsd <= nanoUsd;
}

/** Only `enforce` holds the batch back. */
export function withinBudget(context: RunContext): boolean {
  const { state } = context;
  if (fitsBudget(state)) return true;
  if (state.rules.budget?.mode === 'audit') state.reason = 'budget';
  if (state.rules.budget?.mode !== 'enforce') return true;
  // While something is in flight its settlement may free what it held.
  if (itemsByPhase(state).inFlight.length === 0) exceeded(context, state.rules.budget);
  return false;
}

/** With nothing in flight there is no item to stop: a cancelled run has only those left that wait. */
function exceeded(context: RunContext, { onExceeded }: PlanBudget): void {
  hold(context, 'budget');
  if (onExceeded !== undefined) context.state.mode = onExceeded === 'drain' ? 'draining' : 'cancelling';
}

/** Records once that the soft limit was passed; what was spent never becomes less. */
export function recordSoftLimit(context: RunContext): void {
  const { state } = context;
  const soft = state.rules.budget?.softNanoUsd;
  if (soft === undefined || state.spentNanoUsd < soft || paceOf(state).saidSoft) return;
  changePace(context, { saidSoft: true });
  const detail = `${formatUsd(nanoUsd(state.spentNanoUsd))} of the budget are spent`;
  const about = { machine: 'run', id: state.runId } as const;
  context.order({ type: 'record', event: { about, conversationId: null, code: 'budget_soft', detail } });
}
