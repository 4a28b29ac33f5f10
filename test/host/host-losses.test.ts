/** When a worker gives other hosts up: after the bound, and only what it has itself seen silent. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { watchHostLosses } from '../../host/engines/host-losses.ts';
import type { LeasedHost, LostSandbox } from '../../ports/host-leases.ts';
import type { Delivery } from '../../ports/notifier.ts';

const LEASE_MS = 6_000;
const LOST_AFTER_MS = 30_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const silent = (name: string, change: Partial<LeasedHost> = {}): LeasedHost => ({
  ...{ name, runtime: 'process', capacity: 1, up: 0, labels: {}, isLive: false, draining: false },
  ...{ version: '1', fence: 4, heartbeatAt: 0, leaseUntil: LEASE_MS, ended: null, sandboxes: 2, lost: 0 },
  archivesReleased: false,
  relay: null,
  ...change,
});

interface Scene {
  /** What the store says; null: it is away. */
  hosts: readonly LeasedHost[] | null;
  lost: readonly LostSandbox[];
  released: readonly SandboxId[];
  leads: boolean;
  /** What it answers when a host is given up. */
  answer: number | null;
  readonly asked: unknown[];
  readonly told: Delivery[];
  /** The sandbox whose notices fail. */
  deaf: SandboxId | null;
  readonly said: string[];
  stop(): Promise<void>;
}

function scene(hosts: readonly LeasedHost[]): Scene {
  const seen: Omit<Scene, 'stop'> = {
    hosts,
    lost: [],
    released: [],
    leads: true,
    answer: 2,
    asked: [],
    told: [],
    deaf: null,
    said: [],
  };
  const losses = watchHostLosses({
    hosts: {
      list: () => (seen.hosts === null ? Promise.reject(new Error('away')) : Promise.resolve(seen.hosts)),
      giveUp(loss) {
        seen.asked.push(loss);
        return Promise.resolve(seen.answer);
      },
      lostSandboxes: () => Promise.resolve(seen.lost),
      releasedOn: (name) => Promise.resolve(name === 'own' ? seen.released : []),
    },
    notices: {
      deliver(delivery) {
        if (delivery.to.id === seen.deaf) return Promise.reject(new Error('its workflow is gone'));
        seen.told.push(delivery);
        return Promise.resolve();
      },
    },
    leads: () => seen.leads,
    lease: { name: 'own', fence: 1 },
    leaseMs: LEASE_MS,
    lostAfterMs: LOST_AFTER_MS,
    steady: () => Date.now(),
    onNotice: (text) => void seen.said.push(text),
  });
  return Object.assign(seen, { stop: () => losses.stop() });
}

it('gives up a host that it has seen silent for a lease, by the bound of the store', async () => {
  const at = scene([silent('gone')]);
  await vi.advanceTimersByTimeAsync(LEASE_MS - 1);
  expect(at.asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(at.asked).toEqual([{ name: 'gone', fence: 4, silentMs: LOST_AFTER_MS }]);
  expect(at.said).toEqual([
    'host gone was given up: its worker is gone, and with it 2 sandboxes; nothing was heard of it since 1970-01-01 00:00:00Z. They become MISSING, their conversations can only be read, and items of runs begin again elsewhere',
  ]);
  await at.stop();
  await vi.advanceTimersByTimeAsync(9 * LEASE_MS);
  expect(at.asked).toHaveLength(1);
});

it('leaves alone who lives, who has stopped in order, who was given up, and itself', async () => {
  const at = scene([
    silent('lives', { isLive: true }),
    silent('stopped', { ended: 'stopped' }),
    silent('lost', { ended: 'lost' }),
    silent('own'),
  ]);
  await vi.advanceTimersByTimeAsync(20 * LEASE_MS);
  expect(at.asked).toEqual([]);
  await at.stop();
});

it('has patience for as long as the lease of the other', async () => {
  const at = scene([silent('slow', { leaseUntil: 10 * LEASE_MS })]);
  await vi.advanceTimersByTimeAsync(10 * LEASE_MS - 1);
  expect(at.asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(at.asked).toHaveLength(1);
  await at.stop();
});

it('gives nobody up at once when the store was away for longer than the bound: who lives has time to say so', async () => {
  const both = [silent('lives'), silent('gone')];
  const at = scene(both);
  await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
  at.hosts = null;
  await vi.advanceTimersByTimeAsync(10 * LOST_AFTER_MS);
  at.hosts = both;
  await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
  expect(at.asked).toEqual([]);
  at.hosts = [silent('lives', { isLive: true, leaseUntil: Date.now() }), silent('gone')];
  await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
  expect(new Set(at.asked.map((loss) => (loss as { name: string }).name))).toEqual(new Set(['gone']));
  await at.stop();
});

it('begins its patience anew with a sign of life, and with another holder', async () => {
  const at = scene([silent('a')]);
  for (const change of [{ leaseUntil: LEASE_MS + 1, heartbeatAt: 1 }, { fence: 5 }, { fence: 6 }]) {
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1);
    at.hosts = [silent('a', change)];
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(at.asked).toEqual([]);
  await at.stop();
});

it('says nothing of a host that another has given up, or that was back in time', async () => {
  const at = scene([silent('gone')]);
  at.answer = null;
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect([at.asked.length, at.said]).toEqual([1, []]);
  await at.stop();
});

it('tells every lost sandbox again until it is MISSING, whoever gave its host up', async () => {
  const at = scene([]);
  const id = sandboxId('a'.repeat(32));
  at.lost = [{ sandboxId: id, host: 'gone' }];
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  const told = { to: { machine: 'sandbox', id }, event: { type: 'hostLost' } };
  expect(at.told).toEqual([told, told, told]);
  at.lost = [];
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(at.told).toHaveLength(3);
  await at.stop();
});

it('tells all others when one cannot be told, and that one with a later sweep', async () => {
  const own = silent('own', { isLive: true, draining: true, archivesReleased: true, fence: 1 });
  const at = scene([own]);
  const [deaf, other] = [sandboxId('a'.repeat(32)), sandboxId('b'.repeat(32))];
  at.deaf = deaf;
  at.lost = [deaf, other].map((id) => ({ sandboxId: id, host: 'gone' }));
  at.released = [deaf, other];
  const heard = (): readonly string[] => at.told.map(({ to, event }) => `${to.id[0]} ${event.type}`);
  await vi.advanceTimersByTimeAsync(LEASE_MS / 2 - 1);
  expect(heard()).toEqual(['b hostLost', 'b deleteRequested']);
  at.deaf = null;
  at.lost = [];
  await vi.advanceTimersByTimeAsync(LEASE_MS / 2);
  expect(heard().slice(2)).toEqual(['a deleteRequested']);
  await at.stop();
});

it('archives what is released on its own host while that is asked for, each once, and again when it has stayed', async () => {
  const own = silent('own', { isLive: true, draining: true, archivesReleased: true, fence: 1 });
  const at = scene([
    { ...own, archivesReleased: false },
    silent('b', { isLive: true, archivesReleased: true }),
  ]);
  const [first, second] = [sandboxId('a'.repeat(32)), sandboxId('b'.repeat(32))];
  at.released = [first];
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(at.told).toEqual([]);
  at.hosts = [own];
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  at.released = [first, second];
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(at.told).toEqual(
    [first, second].map((id) => ({
      to: { machine: 'sandbox', id },
      event: { type: 'deleteRequested', requestId: `drained/${id}`, onlyReleased: true },
    })),
  );
  at.released = [second];
  await vi.advanceTimersByTimeAsync(600_000);
  expect(at.told).toHaveLength(3);
  // Another process has the host now.
  at.hosts = [{ ...own, fence: 2 }];
  await vi.advanceTimersByTimeAsync(1_200_000);
  expect(at.told).toHaveLength(3);
  await at.stop();
});
