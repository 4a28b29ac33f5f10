/**
 * H6: `spread` takes the host with the smallest share in use, `pack` the one with the largest that has room (D33).
 * Owns the comparison of shares with all that would have done.
 */
import type { HostPlacement, HostView } from '../../hosts/host-facts.ts';
import type { HostsSetting } from '../../hosts/host-setting.ts';
import type { SafetyCheck } from '../checker.ts';
import { fitsPin } from './placed-with-room.ts';
import { unseen } from './unseen.ts';

export function filledAsOrdered(): SafetyCheck {
  const added = unseen<HostPlacement>();
  return ({ facts: { hosts } }) => {
    if (hosts === undefined || hosts === null) return null;
    for (const placement of added(hosts.placements)) {
      const better = placement.homeBefore === null ? betterFor(placement, hosts.setting) : undefined;
      if (better === undefined) continue;
      return `${placement.sandboxId} is placed on ${placement.host} by ${hosts.setting.strategy}, and not on ${better.name}`;
    }
    return null;
  };
}

function betterFor(
  { at, host, seen }: HostPlacement,
  { strategy, pin = {} }: HostsSetting,
): HostView | undefined {
  const chosen = seen.find(({ name }) => name === host);
  if (chosen === undefined) return undefined;
  const share = ({ up, capacity }: HostView): number => up / capacity;
  return seen.find((one) => {
    const isOpen = !one.draining && one.up < one.capacity && (one.leaseUntil === null || one.leaseUntil > at);
    if (!isOpen || !fitsPin(one, pin)) return false;
    return strategy === 'spread' ? share(one) < share(chosen) : share(one) > share(chosen);
  });
}
