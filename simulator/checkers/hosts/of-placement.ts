/**
 * Invariants of where sandboxes are placed: with room, as ordered, for life, and counted right (D33).
 * Owns the checks on hosts as they were at the instant of a placement.
 */
import type { HostPin } from '../../../core/placement/choose-host.ts';
import type { HostFacts, HostPlacement, HostRefusal, HostView } from '../../hosts/host-facts.ts';
import type { HostsSetting } from '../../hosts/host-setting.ts';
import type { WorldFacts } from '../../world-facts.ts';
import type { SafetyCheck } from '../checker.ts';

/**
 * H3: a sandbox is placed on a host that is there, has room, and is what was requested; a new one on none that drains
 * (D33). Owns the check on the hosts as they were at that instant; filledAsOrdered says which of them is the best.
 */
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

/** H11: no sandbox is refused for full hosts while one that would do has room, also for its own while it drains. */
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

function fitsPin({ name, labels }: HostView, pin: HostPin): boolean {
  if (pin.name !== undefined && pin.name !== name) return false;
  return Object.entries(pin.labels ?? {}).every(([label, value]) => labels[label] === value);
}

/**
 * H4: no more sandboxes hold a slot on a host than it takes. H7: what placement counts there is what there is (D33).
 * Owns the count over all slots, made anew whenever one was taken or given back.
 */
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

function counted(judge: (host: HostView, count: number) => string | null): SafetyCheck {
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

/**
 * H5: a sandbox lives on one host from its reservation to its end, and comes back there from a release (D33). It
 * remembers where each was first placed; what lies on a disk does not move.
 */
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

/**
 * H6: `spread` takes the host with the smallest share in use, `pack` the one with the largest that has room (D33).
 * Owns the comparison of shares with all that would have done.
 */
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

/**
 * What was added to a list since it was last read.
 * Owns the place reached; the list only grows.
 */
export function unseen<Entry>(): (list: readonly Entry[]) => readonly Entry[] {
  let seen = 0;
  return (list) => {
    if (list.length === seen) return [];
    const added = list.slice(seen);
    seen = list.length;
    return added;
  };
}
