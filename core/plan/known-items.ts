/**
 * The conversations of a plan that are known, without what stands for others until their rows are.
 * Owns that choice.
 */
import type { Plan, PlanItem } from './plan.ts';

/** Without those that stand for rows to come. */
export function knownItems({ items }: Pick<Plan, 'items'>): readonly PlanItem[] {
  return items.some(isAwaiting) ? items.filter((item) => !isAwaiting(item)) : items;
}

/** Whether the item stands for rows that a stage before it is yet to write. */
export function isAwaiting({ awaits }: Pick<PlanItem, 'awaits'>): boolean {
  return awaits !== undefined;
}

/** It stood for conversations of `plan` whose rows are known by now. */
export function isReplaced(item: PlanItem, plan: Pick<Plan, 'items'>): boolean {
  return isAwaiting(item) && knownItems(plan).some(({ entry }) => entry === item.entry);
}
