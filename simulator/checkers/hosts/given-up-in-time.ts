/**
 * H8: a host is given up when its lease is over and not before, and nothing of a host that is there is called lost (D33).
 * Owns the comparison with the last sign of life; one renewal may be under way when it falls silent.
 */
import type { HostGivenUp } from '../../hosts/host-facts.ts';
import type { SafetyCheck } from '../checker.ts';
import { unseen } from './unseen.ts';

/** A lease is renewed six times in the time that it runs. */
const RENEWALS = 6;

export function givenUpInTime(): SafetyCheck {
  const added = unseen<HostGivenUp>();
  const lost = new Set<string>();
  return ({ step, facts: { hosts } }) => {
    if (hosts === undefined || hosts === null) return null;
    const { leaseMs, silentMs = 0 } = hosts.setting;
    for (const { at, host, heardUntil } of added(hosts.givenUp)) {
      lost.add(host);
      if (at < heardUntil + leaseMs - leaseMs / RENEWALS + silentMs)
        return `${host} is given up ${at - heardUntil} ms after its last sign of life, and its lease is ${leaseMs} ms and ${silentMs} more`;
    }
    if (step.address.machine !== 'sandbox' || step.event.type !== 'hostLost') return null;
    const home = hosts.homeOf(step.address.id as Parameters<typeof hosts.homeOf>[0]);
    return home !== null && lost.has(home)
      ? null
      : `its host ${home ?? ''} is called lost, and was not given up`;
  };
}
