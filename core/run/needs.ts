/**
 * Stages: items that begin only after others have ended, and that are skipped when those ended badly.
 * Owns how a need is read; must not begin anything.
 */
import { standingOf } from './standing.ts';
import type { Ending, ItemNeed, RunItem, RunState } from './state.ts';
import { changeItem, type RunTurn } from './turn.ts';

/** Whether everything that an item waits for has ended. */
export function needsMet(item: RunItem, state: RunState): boolean {
  return item.needs === undefined || item.needs.every((need) => openIn(need, state) === 0);
}

/**
 * Ends what waits for somebody who has ended otherwise than it needs; a skipped item may be what others wait for, so it
 * looks again until nothing changes. Every look ends an item or is the last.
 */
export function skipUnmet(turn: RunTurn): void {
  if (standingOf(turn.state).groups === undefined) return;
  let changed = true;
  while (changed) {
    changed = false;
    for (const index of standingOf(turn.state).waiting) {
      const need = unmetNeed(turn.state.items[index], turn.state);
      if (need === null) continue;
      changeItem(turn, index, { phase: 'ended', ending: skipped(need), endedAt: turn.now, notBefore: null });
      changed = true;
    }
  }
}

/** A need that can no longer be met; null when there is none. */
function unmetNeed(item: RunItem | undefined, state: RunState): ItemNeed | null {
  const isUnmet = (need: ItemNeed): boolean =>
    need.outcome === 'succeeded' && openIn(need, state) === 0 && unsuccessfulIn(need, state) > 0;
  return item?.needs?.find(isUnmet) ?? null;
}

function skipped({ entry }: ItemNeed): Ending {
  return { outcome: 'skipped', failureClass: null, detail: `it needs "${entry}", which did not succeed` };
}

function openIn({ group }: ItemNeed, state: RunState): number {
  return standingOf(state).groups?.[group]?.open ?? 0;
}

function unsuccessfulIn({ group }: ItemNeed, state: RunState): number {
  return standingOf(state).groups?.[group]?.unsuccessful ?? 0;
}
