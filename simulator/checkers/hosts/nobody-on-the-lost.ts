/**
 * L12: nothing lives on a host whose lease is over for long: who was there is `MISSING`, and the name is free again (D33).
 * Owns the check on hosts and sandboxes at rest.
 */
import { PUNCTUAL, type Finding, type Rest } from '../checker.ts';
import { sandboxesAt } from '../states-at-rest.ts';

export function nobodyOnTheLost(rest: Rest): readonly Finding[] {
  const { hosts } = rest.facts;
  if (hosts === undefined || hosts === null) return [];
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  const { leaseMs, silentMs = 0 } = hosts.setting;
  const patienceMs = 2 * leaseMs + silentMs + settleMs;
  const gone = new Set<string>();
  for (const { name, leaseUntil } of hosts.all())
    if (leaseUntil !== null && leaseUntil + patienceMs < rest.now) gone.add(name);
  if (gone.size === 0) return [];
  return sandboxesAt(rest).flatMap(({ entity, state: { sandboxId, status } }) => {
    const home = hosts.homeOf(sandboxId);
    if (status === 'MISSING' || home === null || !gone.has(home)) return [];
    return [{ entity, problem: `it is ${status} on ${home}, whose lease is over` }];
  });
}
