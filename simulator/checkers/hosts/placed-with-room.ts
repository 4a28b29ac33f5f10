/**
 * H3: a sandbox is placed on a host that is there, has room, and is what was asked for; a new one on none that drains (D33).
 * Owns the check on the hosts as they were at that instant; which of them is the best is said in filled-as-ordered.ts.
 */
import type { HostPin } from '../../../core/placement/choose-host.ts';
import type { HostPlacement, HostRefusal, HostView } from '../../hosts/host-facts.ts';
import type { SafetyCheck } from '../checker.ts';
import { unseen } from './unseen.ts';

export function placedWithRoom(): SafetyCheck {
  const added = unseen<HostPlacement>();
  return ({ facts: { hosts } }) => {
    for (const placement of added(hosts?.placements ?? [])) {
      const problem = misplaced(placement, hosts?.setting.pin ?? {});
      if (problem !== null) return `${placement.sandboxId} is placed on ${placement.host}, which ${problem}`;
    }
    return null;
  };
}

/** H11: nobody is told that the hosts are full while one of them that would do has room, also for its own while it drains. */
export function roomIsGiven(): SafetyCheck {
  const added = unseen<HostRefusal>();
  return ({ facts: { hosts } }) => {
    for (const { sandboxId, seen, ...refusal } of added(hosts?.refusals ?? [])) {
      const would = seen.find(({ name }) => {
        const isOwn = refusal.homeBefore === null || refusal.homeBefore === name;
        return (
          isOwn && misplaced({ ...refusal, sandboxId, seen, host: name }, hosts?.setting.pin ?? {}) === null
        );
      });
      if (would !== undefined) return `${sandboxId} is refused a slot, and ${would.name} has room for it`;
    }
    return null;
  };
}

function misplaced({ at, host, homeBefore, seen }: HostPlacement, pin: HostPin): string | null {
  const view = seen.find(({ name }) => name === host);
  if (view === undefined) return 'is not there';
  if (view.leaseUntil !== null && view.leaseUntil <= at) return 'has no lease any more';
  if (view.up >= view.capacity) return `is full: ${view.up} of ${view.capacity}`;
  if (homeBefore !== null) return null;
  if (view.draining) return 'drains';
  return fitsPin(view, pin) ? null : 'is not what was asked for';
}

export function fitsPin({ name, labels }: HostView, pin: HostPin): boolean {
  if (pin.name !== undefined && pin.name !== name) return false;
  return Object.entries(pin.labels ?? {}).every(([label, value]) => labels[label] === value);
}
