/**
 * H5: a sandbox lives on one host from its reservation to its end, and comes back there from a release (D33).
 * Owns the memory of where each was first placed; what lies on a disk does not move.
 */
import type { HostPlacement } from '../../hosts/host-facts.ts';
import type { SafetyCheck } from '../checker.ts';
import { unseen } from './unseen.ts';

export function oneHostForLife(): SafetyCheck {
  const added = unseen<HostPlacement>();
  const homes = new Map<string, string>();
  return ({ facts: { hosts } }) => {
    for (const { sandboxId, host } of added(hosts?.placements ?? [])) {
      const home = homes.get(sandboxId) ?? host;
      homes.set(sandboxId, home);
      if (home !== host) return `${sandboxId} is placed on ${host}, and lives on ${home}`;
    }
    return null;
  };
}
