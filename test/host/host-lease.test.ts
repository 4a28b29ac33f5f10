/** The lease of a process on its host: renewed as long as it serves, and its end is the end of the process. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ParleyError } from '../../core/parley-error.ts';
import { fallbackName, renewHostLease, type RenewedHost } from '../../host/engines/host-lease.ts';
import { hosted, isHostBound } from '../../host/sandboxes/hosted.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import type { RenewedLease } from '../../ports/host-leases.ts';

const LEASE_MS = 6_000;
const HELD: RenewedLease = { isHeld: true, draining: false };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Scene {
  readonly lost: ParleyError[];
  readonly draining: boolean[];
  readonly renewed: number[];
  readonly host: RenewedHost;
}

function scene(answer: (at: number) => Promise<RenewedLease>): Scene {
  const seen = { lost: [] as ParleyError[], draining: [] as boolean[], renewed: [] as number[] };
  const began = Date.now();
  const host = renewHostLease({
    hosts: {
      renew: (lease, leaseMs) => {
        expect([lease, leaseMs]).toEqual([{ name: 'a', fence: 3 }, LEASE_MS]);
        seen.renewed.push(Date.now() - began);
        return answer(Date.now() - began);
      },
    },
    lease: { name: 'a', fence: 3 },
    leaseMs: LEASE_MS,
    onLost: (error) => void seen.lost.push(error),
    onDraining: (draining) => void seen.draining.push(draining),
  });
  return { ...seen, host };
}

it('is renewed at once, then six times in its time, until it is stopped', async () => {
  const { renewed, lost, host } = scene(() => Promise.resolve(HELD));
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(renewed).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
  await host.stop();
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(renewed).toHaveLength(7);
  expect(lost).toEqual([]);
});

it('outlives a store that is away for longer than its time, and is renewed when that is back', async () => {
  const { lost, renewed } = scene((at) =>
    at < 1_500 || at > 10 * LEASE_MS ? Promise.resolve(HELD) : Promise.reject(new Error('away')),
  );
  await vi.advanceTimersByTimeAsync(11 * LEASE_MS);
  expect(lost).toEqual([]);
  expect(renewed.at(-1)).toBe(11 * LEASE_MS);
});

it('has one renewal under way at a time', async () => {
  const { lost, renewed } = scene((at) => (at === 0 ? Promise.resolve(HELD) : new Promise(() => undefined)));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([lost, renewed]).toEqual([[], [0, 1_000]]);
});

it('ends the process when another one has the fence', async () => {
  const { lost, renewed } = scene((at) => Promise.resolve({ isHeld: at < 2_500, draining: false }));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lost).toMatchObject([{ code: 'host_lost', message: expect.stringContaining('"a"') as string }]);
  expect(renewed).toHaveLength(4);
});

it('says when it drains and when it does not any more', async () => {
  const { draining } = scene((at) => Promise.resolve({ isHeld: true, draining: at >= 1_500 && at < 3_500 }));
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(draining).toEqual([true, false]);
});

it.each([
  ['build-7.example.com', 'build-7.example.com'],
  ['-._odd name\u001b[31m', 'odd-name--31m'],
  ['\u00fc', 'host'],
  ['x'.repeat(200), 'x'.repeat(63)],
])('calls the machine %j the host "%s"', (machine, name) => {
  expect(fallbackName(machine)).toBe(name);
});

it.each([
  ['temporal', 'postgres', 'process', true],
  ['temporal', 'postgres', 'docker', true],
  ['temporal', 'postgres', 'kubernetes', false],
  ['temporal', 'sqlite', 'process', false],
  ['embedded', 'postgres', 'process', false],
] as const)('binds sandboxes on %s with %s by %s: %s', (engine, store, runtimeKind, isBound) => {
  const config = {
    ...{ engine: { kind: engine }, store: { kind: store }, runtimeKind, host: { strategy: 'pack' } },
    deployment: { capacity: { installationMax: 3 } },
  } as unknown as DeploymentConfig;
  expect(isHostBound(config)).toBe(isBound);
  const hosts = isBound ? { runtime: runtimeKind, strategy: 'pack' } : undefined;
  expect(hosted(config).deployment.capacity).toEqual({ installationMax: 3, hosts });
});
