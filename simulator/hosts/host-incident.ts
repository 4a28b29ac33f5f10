/**
 * What can happen to a host: faults of it, and what an operator does.
 * Owns the list and how each reaches the world; when it happens is said by a case or a scenario.
 */
import type { HostWorkers } from './host-workers.ts';

const HOST_INCIDENTS = {
  host_lost: 'the machine of a host is gone with its disk; another one takes its name later',
  host_cut_off:
    'a host works on and reaches nobody, and comes back: with its lease, or refused with an old fence',
  host_slow: 'the commands of a host take many times longer',
  host_drained: 'an operator takes a host out of placement, and puts it back later',
} as const;

type HostIncidentName = keyof typeof HOST_INCIDENTS;
/** In the order of the list. */
export const HOST_INCIDENT_NAMES = Object.keys(HOST_INCIDENTS) as readonly HostIncidentName[];

export interface HostIncident {
  readonly name: HostIncidentName;
  readonly host: string;
  /** Milliseconds until it is over. */
  readonly forMs: number;
  /** For `host_slow`: how many times longer; absent: 10. */
  readonly times?: number;
}

const TIMES_DEFAULT = 10;

/** It begins now. */
export function befall(hosts: HostWorkers, { name, host, times = TIMES_DEFAULT }: HostIncident): void {
  switch (name) {
    case 'host_lost':
      return hosts.lose(host);
    case 'host_cut_off':
      return hosts.cutOff(host);
    case 'host_slow':
      return hosts.slow(host, times);
    case 'host_drained':
      return hosts.drain(host, true);
  }
}

/** It is over. */
export function pass(hosts: HostWorkers, { name, host }: HostIncident): void {
  switch (name) {
    case 'host_lost':
    case 'host_cut_off':
      return hosts.restore(host);
    case 'host_slow':
      return hosts.slow(host, 1);
    case 'host_drained':
      return hosts.drain(host, false);
  }
}
