/**
 * Invariants of hosts, with their names: they hold of themselves where sandboxes are bound to none.
 * Owns the list; list.ts asks them with all others.
 */
import { atRest, safety, type LivenessChecker, type SafetyChecker } from '../checker.ts';
import {
  filledAsOrdered,
  hostsCountRight,
  oneHostForLife,
  placedWithRoom,
  roomIsGiven,
  withinHosts,
} from './of-placement.ts';
import {
  givenUpInTime,
  lostForGood,
  noTryForAHost,
  nobodyOnTheLost,
  oneFenceActs,
  ownHostActs,
  readOnlyAfterAHost,
} from './of-loss.ts';

/** Made anew for every run: most of them remember. */
export function ofHosts(): readonly SafetyChecker[] {
  return safety([
    ['H1', 'one lease of a host acts at a time', null, oneFenceActs()],
    ['H2', 'a sandbox is reached by its host alone', null, ownHostActs()],
    ['H3', 'placed where there is room', null, placedWithRoom()],
    ['H4', 'no host takes more than it can', null, withinHosts()],
    ['H5', 'a sandbox has one host for life', null, oneHostForLife()],
    ['H6', 'hosts are filled as ordered', null, filledAsOrdered()],
    ['H7', 'what is counted on a host is there', null, hostsCountRight()],
    ['H8', 'no host is given up before its time', null, givenUpInTime()],
    ['H9', 'what a lost host had is lost', 'sandbox', lostForGood],
    ['H10', 'a lost host takes no try', null, noTryForAHost()],
    ['H11', 'who has room gives it', null, roomIsGiven()],
  ]);
}

export const HOSTS_AT_REST: readonly LivenessChecker[] = atRest([
  ['L12', 'nobody is left on a lost host', nobodyOnTheLost],
  ['L13', 'conversations of a lost host are read-only', readOnlyAfterAHost],
]);
