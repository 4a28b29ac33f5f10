/**
 * Room on hosts as the waiters in the line for a slot find it, one after the other (D29, D33).
 * Owns what each of them leaves for the next. Pure: the order of the line and the hosts come in.
 */
import { chooseHost, type HostCandidate, type HostPin, type HostPolicy } from './choose-host.ts';

/** A sandbox that resumes goes back to its host also while that one drains. */
export interface WaiterHost extends HostPin {
  readonly alsoDraining?: boolean;
}

/**
 * Gives the next waiter room on a host that fits it, and returns whether it had any: one that waits for a host of its
 * own does not hold up those that could go elsewhere. Without a policy sandboxes are bound to no host.
 */
export type TakeSeat = (waiter: { readonly host?: WaiterHost | undefined }) => boolean;

/** Room on hosts while several sandboxes are placed in one transaction. */
export interface HostSeats {
  readonly take: TakeSeat;
  /** As they are when every waiter that took a seat has its sandbox. */
  left(): readonly HostCandidate[];
}

/** Begins with the room there is. */
export function hostSeats(hosts: readonly HostCandidate[], policy: HostPolicy | undefined): HostSeats {
  const left = new Map(hosts.map((host) => [host.name, host]));
  return {
    take({ host }) {
      if (policy === undefined) return true;
      const choice = chooseHost({ ...policy, ...host }, [...left.values()]);
      if (choice.kind !== 'chosen') return false;
      const chosen = left.get(choice.name);
      if (chosen !== undefined) left.set(chosen.name, { ...chosen, up: chosen.up + 1 });
      return true;
    },
    left: () => [...left.values()],
  };
}
