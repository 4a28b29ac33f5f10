/**
 * H1: of the leases of a host one acts at a time: nobody acts with a fence that is over, and none after a newer one (D33).
 * Owns the memory of the newest fence that acted; one that is cut off cannot know that it was given up.
 */
import type { HostAct } from '../../hosts/host-facts.ts';
import type { SafetyCheck } from '../checker.ts';
import { unseen } from './unseen.ts';

export function oneFenceActs(): SafetyCheck {
  const added = unseen<HostAct>();
  const newest = new Map<string, number>();
  return ({ facts }) => {
    let problem: string | null = null;
    for (const { host, fence, storeFence, isCutOff, command } of added(facts.hosts?.acts ?? [])) {
      if (host === null) continue;
      const other = newest.get(host) ?? 0;
      newest.set(host, Math.max(other, fence));
      if (fence < other)
        problem ??= `${command} is carried out on ${host} with fence ${fence}, after ${other}`;
      if (fence !== storeFence && !isCutOff)
        problem ??= `${command} is carried out on ${host} with fence ${fence}, and ${storeFence} counts`;
    }
    return problem;
  };
}
