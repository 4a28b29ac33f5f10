/** Hosts as the suites of the store claim them, and conversations that are placed on them. */
import type { HostClaim } from '../../ports/host-leases.ts';
import type { PlaceOutcome } from '../../ports/placement-store.ts';
import type { Store } from '../../store/open-store.ts';
import { LIMITS, placeRequest, sandboxNumber } from './store-rows.ts';

/** Longer than any test. */
export const LEASE_MS = 600_000;
export const HOSTED = { ...LIMITS, hosts: { runtime: 'process', strategy: 'spread' } } as const;
const NEW = { strategy: 'NO_GROUPING', limits: HOSTED } as const;

export function claim(name: string | null, changes: Partial<HostClaim> = {}): HostClaim {
  return {
    ...{ name, fallbackName: 'fallback', directory: `directory of ${name}`, runtime: 'process', capacity: 2 },
    ...{ labels: {}, relay: null, version: '1.0.0', leaseMs: LEASE_MS },
    ...changes,
  };
}

export const place = (store: Store, index: number, changes = {}): Promise<PlaceOutcome> =>
  store.placement.place(placeRequest(index, { ...NEW, newSandboxId: sandboxNumber(index), ...changes }));

export async function hostOf({ hosts }: Store, index: number): Promise<string | undefined> {
  const id = sandboxNumber(index);
  return (await hosts.hostsOf([id])).get(id);
}
