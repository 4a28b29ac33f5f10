/**
 * H10: an attempt that ends because its host was given up takes no try, and its item begins again (D33).
 * Owns the memory of how often that befell an item; more often than the limit allows it is a failure like any other.
 */
import { HOST_LOSSES_MAX } from '../../../core/limits.ts';
import { HOST_LOST } from '../../../core/machine/projection.ts';
import { isInFlight, type RunItem, type RunState } from '../../../core/run/state.ts';
import { changedItems } from '../changed-items.ts';
import type { Moment, SafetyCheck } from '../checker.ts';

export function noTryForAHost(): SafetyCheck {
  const losses = new Map<string, number>();
  return (moment) => {
    const { machine, id } = moment.step.address;
    if (moment.facts.hosts === undefined || moment.facts.hosts === null) return null;
    if (machine !== 'run' && machine !== 'shard') return null;
    for (const { before, after, state } of endedByHost(moment)) {
      const key = `${machine}/${id}/${after.key}`;
      const count = (losses.get(key) ?? 0) + 1;
      losses.set(key, count);
      if (count > HOST_LOSSES_MAX || state.mode === 'cancelling') continue;
      if (JSON.stringify(after.failures) !== JSON.stringify(before.failures))
        return `its host was lost, and item ${after.key} has used a try: ${JSON.stringify(after.failures)}`;
      if (after.phase !== 'waiting') return `its host was lost, and item ${after.key} does not begin again`;
    }
    return null;
  };
}

interface Ended {
  readonly before: RunItem;
  readonly after: RunItem;
  readonly state: RunState;
}

function endedByHost(moment: Moment): readonly Ended[] {
  const state = moment.step.after as RunState;
  const past = moment.step.before as RunState | null;
  return changedItems(moment).flatMap((position) => {
    const [before, after] = [past?.items[position], state.items[position]];
    if (before === undefined || after === undefined || !isInFlight(before) || isInFlight(after)) return [];
    return isByHost(after) ? [{ before, after, state }] : [];
  });
}

function isByHost({ ending }: RunItem): boolean {
  return ending?.failureClass === 'infra' && ending.detail?.endsWith(`: ${HOST_LOST}`) === true;
}
