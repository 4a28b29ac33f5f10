/**
 * Faults that show at one entity and strike all of them: the worker, the store, the daemon or the gateway as a whole.
 * Owns the list; coverage and aims count such a fault for everybody.
 */
import type { FaultName } from '../faults/catalogue.ts';

const OF_EVERYBODY: ReadonlySet<FaultName> = new Set<FaultName>([
  'runtime_unreachable',
  'runtime_daemon_restart',
  'runtime_events_cut',
  'runtime_disk_full',
  'runtime_quota_refused',
  'gateway_rate_limited',
  'gateway_unavailable',
  'store_restart',
  'store_full',
  'worker_crash_before_commit',
  'worker_crash_after_commit',
  'worker_crash_in_activity',
  'worker_rolling_upgrade',
]);

export function strikesEverybody(fault: FaultName): boolean {
  return OF_EVERYBODY.has(fault);
}
