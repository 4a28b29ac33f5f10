/**
 * What the machine of a run has to know of an amended plan: which of its items are others, and which are new.
 * Owns the comparison by position; the amended plan has every item of the one before at its place.
 */
import type { RunId, UserId } from '../../ids.ts';
import type { Plan } from '../../plan/plan.ts';
import { runSpec } from '../run-spec.ts';
import type { RunEvent } from '../message.ts';

type Amended = Extract<RunEvent, { readonly type: 'planAmended' }>;

/** A plan that replaces the one of a run, and what differs. */
export type PlanChanges = Pick<Amended, 'basePlanHash' | 'planHash' | 'changed' | 'added'>;

/** What a run that goes on takes of another plan, or what forbids it. */
export function planChanges(
  planned: Plan,
  amended: Plan,
  ids: { readonly runId: RunId; readonly userId: UserId },
): PlanChanges {
  const before = runSpec(planned, ids).items;
  const after = runSpec(amended, ids).items;
  const changed = after.slice(0, before.length).flatMap((spec, index) => {
    const isAnew = planned.items[index]?.specHash !== amended.items[index]?.specHash;
    const isSame = !isAnew && JSON.stringify(spec) === JSON.stringify(before[index]);
    return isSame ? [] : [{ index, spec, isAnew }];
  });
  return {
    basePlanHash: planned.hash,
    planHash: amended.hash,
    changed,
    added: after.slice(before.length),
  };
}
