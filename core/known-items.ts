/**
 * The conversations of a plan that are known, without what stands for others until their rows are.
 * Owns that choice, and the shape of what is awaited.
 */
import type { Plan, PlanItem } from './plan.ts';

/** Rows that conversations of a run leave among their results, and that others of it are made from. */
export interface PlanAwaited {
  /** Id of the conversation entry that writes them. */
  readonly entry: string;
  /** JSON lines, relative to the working directory. */
  readonly file: string;
}

export function knownItems({ items }: Pick<Plan, 'items'>): readonly PlanItem[] {
  return items.some(isAwaiting) ? items.filter((item) => !isAwaiting(item)) : items;
}

export function isAwaiting({ awaits }: Pick<PlanItem, 'awaits'>): boolean {
  return awaits !== undefined;
}
