/**
 * Invariants of hosts, with their names: they hold of themselves where sandboxes are bound to none.
 * Owns the list; list.ts asks them with all others.
 */
import type { LivenessChecker, SafetyChecker } from '../checker.ts';
import { filledAsOrdered } from './filled-as-ordered.ts';
import { givenUpInTime } from './given-up-in-time.ts';
import { hostsCountRight, withinHosts } from './host-capacity.ts';
import { lostForGood } from './lost-for-good.ts';
import { noTryForAHost } from './no-try-for-a-host.ts';
import { nobodyOnTheLost } from './nobody-on-the-lost.ts';
import { oneFenceActs } from './one-fence-acts.ts';
import { oneHostForLife } from './one-host-for-life.ts';
import { ownHostActs } from './own-host-acts.ts';
import { placedWithRoom, roomIsGiven } from './placed-with-room.ts';
import { readOnlyAfterAHost } from './read-only-after-a-host.ts';

/** Made anew for every run: most of them remember. */
export function ofHosts(): readonly SafetyChecker[] {
  return [
    { name: 'H1', says: 'one lease of a host acts at a time', machine: null, check: oneFenceActs() },
    { name: 'H2', says: 'a sandbox is reached by its host alone', machine: null, check: ownHostActs() },
    { name: 'H3', says: 'placed where there is room', machine: null, check: placedWithRoom() },
    { name: 'H4', says: 'no host takes more than it can', machine: null, check: withinHosts() },
    { name: 'H5', says: 'a sandbox has one host for life', machine: null, check: oneHostForLife() },
    { name: 'H6', says: 'hosts are filled as ordered', machine: null, check: filledAsOrdered() },
    { name: 'H7', says: 'what is counted on a host is there', machine: null, check: hostsCountRight() },
    { name: 'H8', says: 'no host is given up before its time', machine: null, check: givenUpInTime() },
    { name: 'H9', says: 'what a lost host had is lost', machine: 'sandbox', check: lostForGood },
    { name: 'H10', says: 'a lost host takes no try', machine: null, check: noTryForAHost() },
    { name: 'H11', says: 'who has room gives it', machine: null, check: roomIsGiven() },
  ];
}

export const HOSTS_AT_REST: readonly LivenessChecker[] = [
  { name: 'L12', says: 'nobody is left on a lost host', check: nobodyOnTheLost },
  { name: 'L13', says: 'conversations of a lost host are read-only', check: readOnlyAfterAHost },
];
