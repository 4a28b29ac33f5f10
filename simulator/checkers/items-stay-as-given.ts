/**
 * R4: who is in flight stays what it was given, whatever becomes of the plan meanwhile; its next attempt takes that over.
 * Owns this one comparison; what an item is given is taken with its attempt.
 */
import { isInFlight, type RunItem, type RunState } from '../../core/run/state.ts';
import { changedItems } from './changed-items.ts';
import type { Moment } from './checker.ts';

export function itemsStayAsGiven(moment: Moment): string | null {
  const before = moment.step.before as RunState | null;
  const { items } = moment.step.after as RunState;
  for (const index of before === null ? [] : changedItems(moment)) {
    const [was, is] = [before?.items[index], items[index] as RunItem];
    if (was?.next !== undefined && is.attempt > was.attempt && is.plan !== was.next.plan)
      return `item "${is.key}" begins as it was before its plan was amended`;
    if (was === undefined || !isInFlight(was) || !isInFlight(is) || was.attempt !== is.attempt) continue;
    if (
      was.plan !== is.plan ||
      was.hasVerify !== is.hasVerify ||
      was.workingMs !== is.workingMs ||
      JSON.stringify(was.own) !== JSON.stringify(is.own)
    )
      return `item "${is.key}" is in flight, and has become another one`;
  }
  return null;
}
