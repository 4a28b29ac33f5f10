/**
 * Rules that an item may have of its own: when it is tried again, when it has ended, and what is kept of it.
 * Owns that its own come before those of its run, in a plan and in the state of a run alike.
 */
import type { CollectStep, PlanRetryRule, PlanWait } from './plan.ts';

/** What the machine of a run must know of them; absent where the item has those of the run. */
export interface ItemRules {
  readonly retry?: readonly PlanRetryRule[];
  readonly wait?: PlanWait;
}

/** The item's own wait where it says one, else that of the run. */
export function waitOf(
  own: Pick<ItemRules, 'wait'> | null | undefined,
  run: Required<Pick<ItemRules, 'wait'>>,
): PlanWait {
  return own?.wait ?? run.wait;
}

/** The item's own rules, or those of the run. */
export function retryOf(
  own: Pick<ItemRules, 'retry'> | null | undefined,
  run: Required<Pick<ItemRules, 'retry'>>,
): readonly PlanRetryRule[] {
  return own?.retry ?? run.retry;
}

/** The item's own steps, or those of the plan. */
export function collectOf(
  item: { readonly collect?: readonly CollectStep[] },
  plan: { readonly collect: readonly CollectStep[] },
): readonly CollectStep[] {
  return item.collect ?? plan.collect;
}

const READS_WORKSPACE: Readonly<Record<CollectStep['kind'], boolean>> = {
  trajectory: false,
  usage: false,
  diff: true,
  files: true,
};

/** Whether a step reads what lives in the sandbox alone; the others read what is stored outside it. */
export function readsWorkspace({ kind }: CollectStep): boolean {
  return READS_WORKSPACE[kind];
}
