/**
 * Stages: items that begin only after others have ended, and that end without an attempt when those ended otherwise.
 * Owns how a need is read; must not begin anything.
 */
import { itemsByPhase } from '../items-by-phase.ts';
import type { Ending, ItemNeed, RunItem, RunState } from '../state.ts';
import { changeItem, type RunContext } from '../run-context.ts';

/** Whether everything that an item waits for has ended. */
export function needsMet(item: RunItem, state: RunState): boolean {
  return item.needs === undefined || item.needs.every((need) => openIn(need, state) === 0);
}

/**
 * Ends what waits for somebody who has ended otherwise than it needs; an item that ends so may be what others wait for, so it
 * looks again until nothing changes. Every look ends an item or is the last.
 */
export function skipUnmet(context: RunContext): void {
  if (itemsByPhase(context.state).groups === undefined) return;
  let changed = true;
  while (changed) {
    changed = false;
    for (const index of itemsByPhase(context.state).waiting) {
      const ending = unmetEnding(context.state.items[index], context.state);
      if (ending === null) continue;
      changeItem(context, index, { phase: 'ended', ending, endedAt: context.now, notBefore: null });
      changed = true;
    }
  }
}

/** How an item ends that has a need which can no longer be met; null when all may be. */
function unmetEnding(item: RunItem | undefined, state: RunState): Ending | null {
  for (const need of item?.needs ?? []) {
    const ending = openIn(need, state) > 0 ? null : endingOfUnmet(need, unsuccessfulIn(need, state));
    if (ending !== null) return ending;
  }
  return null;
}

function endingOfUnmet({ entry, outcome }: ItemNeed, unsuccessful: number): Ending | null {
  switch (outcome) {
    case 'succeeded':
      if (unsuccessful === 0) return null;
      return { outcome: 'skipped', failureClass: null, detail: `it needs "${entry}", which did not succeed` };
    case 'failed':
      if (unsuccessful > 0) return null;
      return {
        outcome: 'not_needed',
        failureClass: null,
        detail: `it is for a failure of "${entry}", which succeeded`,
      };
    case 'ended':
      return null;
  }
}

function openIn({ group }: ItemNeed, state: RunState): number {
  return itemsByPhase(state).groups?.[group]?.open ?? 0;
}

function unsuccessfulIn({ group }: ItemNeed, state: RunState): number {
  return itemsByPhase(state).groups?.[group]?.unsuccessful ?? 0;
}
