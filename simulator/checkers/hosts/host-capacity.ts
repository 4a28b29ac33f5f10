/**
 * H4: no more sandboxes hold a slot on a host than it takes. H7: what placement counts there is what there is (D33).
 * Owns the count over all slots, made anew whenever one was taken or given back.
 */
import type { HostFacts } from '../../hosts/host-facts.ts';
import type { WorldFacts } from '../../world-facts.ts';
import type { SafetyCheck } from '../checker.ts';

export function withinHosts(): SafetyCheck {
  return counted(({ name, capacity }, count) =>
    count > capacity ? `${count} sandboxes are up on ${name}, which takes ${capacity}` : null,
  );
}

export function hostsCountRight(): SafetyCheck {
  return counted(({ name, up }, count) =>
    count === up ? null : `${up} sandboxes are counted on ${name}, and ${count} hold a slot there`,
  );
}

type Host = ReturnType<HostFacts['all']> extends Iterable<infer View> ? View : never;

function counted(judge: (host: Host, count: number) => string | null): SafetyCheck {
  let last = '';
  return ({ facts }) => {
    const { hosts, slots } = facts;
    if (hosts === undefined || hosts === null) return null;
    const now = `${hosts.placements.length}/${slots.size}`;
    if (now === last) return null;
    last = now;
    const counts = slotsByHost(hosts, facts);
    for (const host of hosts.all()) {
      const problem = judge(host, counts.get(host.name) ?? 0);
      if (problem !== null) return problem;
    }
    return null;
  };
}

function slotsByHost(hosts: HostFacts, { slots }: WorldFacts): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of slots.keys()) {
    const home = hosts.homeOf(id);
    if (home !== null) counts.set(home, (counts.get(home) ?? 0) + 1);
  }
  return counts;
}
