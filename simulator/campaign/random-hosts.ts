/**
 * Hosts by chance: how many, how large, how they are filled, and what befalls them in the time in which faults strike.
 * Owns the ranges; what an incident does is said in simulator/hosts/.
 */
import { HOST_STRATEGIES } from '../../core/placement/choose-host.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { HOST_INCIDENT_NAMES, type HostIncident } from '../hosts/host-incident.ts';
import type { HostSetting, HostsSetting } from '../hosts/host-setting.ts';
import type { Policy } from '../models/model-options.ts';
import type { RandomStream } from '../random.ts';
import { between, pick, wholeMagnitude } from './choose.ts';

export interface TimedIncident {
  /** Milliseconds from the beginning. */
  readonly atMs: number;
  readonly incident: HostIncident;
}

const HOSTS_MAX = 5;
/** From the least that a deployment may have to what nobody should. */
const LEASE = { minMs: 10 * SECOND_MS, maxMs: 10 * MINUTE_MS } as const;
/** How often others wait longer than the lease before they give a host up. */
const SILENT_SHARE = 0.5;
const INCIDENTS_MAX = 14;
/** From less than a lease to most of a day. */
const LASTS = { minMs: 5 * SECOND_MS, maxMs: 8 * HOUR_MS } as const;
const TIMES_MAX = 60;
/** In some cases every sandbox asks for a kind of host that not all of them are. */
const PIN_SHARE = 0.3;
const ZONES = ['east', 'west'] as const;

export function randomHosts(
  stream: RandomStream,
  { safetyMs, policy }: { readonly safetyMs: number; readonly policy: Policy },
): { readonly setting: HostsSetting; readonly incidents: readonly TimedIncident[] } {
  const count = between(stream, 1, HOSTS_MAX);
  const { installationMax } = policy.capacity;
  const hosts = Array.from({ length: count }, (_, index): HostSetting => {
    const labels = { zone: pick(stream, ZONES) };
    return { name: `host-${index + 1}`, capacity: between(stream, 1, Math.max(1, installationMax)), labels };
  });
  const [first] = hosts;
  const zone = first?.labels?.['zone'] ?? ZONES[0];
  const setting: HostsSetting = {
    strategy: pick(stream, HOST_STRATEGIES),
    leaseMs: wholeMagnitude(stream, LEASE.minMs, LEASE.maxMs),
    ...(stream.happens(SILENT_SHARE) ? { silentMs: wholeMagnitude(stream, LEASE.minMs, LEASE.maxMs) } : {}),
    hosts,
    ...(stream.happens(PIN_SHARE) ? { pin: { labels: { zone } } } : {}),
  };
  const incidents = Array.from({ length: between(stream, 1, INCIDENTS_MAX) }, () => ({
    atMs: between(stream, 0, safetyMs),
    incident: randomIncident(stream, hosts),
  }));
  return { setting, incidents: incidents.sort((a, b) => a.atMs - b.atMs) };
}

function randomIncident(stream: RandomStream, hosts: readonly HostSetting[]): HostIncident {
  const name = pick(stream, HOST_INCIDENT_NAMES);
  const { name: host } = pick(stream, hosts);
  const forMs = wholeMagnitude(stream, LASTS.minMs, LASTS.maxMs);
  return { name, host, forMs, ...(name === 'host_slow' ? { times: between(stream, 2, TIMES_MAX) } : {}) };
}
