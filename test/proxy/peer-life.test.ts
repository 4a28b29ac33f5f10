/** A proxy among others: what they have changed is read until it was read, whatever the database does meanwhile. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PEER_BEAT_MS } from '../../proxy/limits.ts';
import { PeerLife } from '../../proxy/peers/peer-life.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('reads a change of the others again where it could not be read', async () => {
  let revision = 1;
  let isAway = false;
  const read: number[] = [];
  const life = new PeerLife({
    peers: {
      join: () => Promise.resolve(false),
      beat: () => Promise.resolve({ isKnown: true, revision, configuration: 0, expired: [], leads: [] }),
      retire: () => Promise.resolve(),
      announce: () => Promise.resolve(),
      serving: () => Promise.resolve([]),
    },
    leases: { exchange: () => Promise.reject(new Error('unused')), settle: () => Promise.resolve() },
    clock: { now: () => 0 },
    newId: () => 'a',
    log: { info: () => undefined, error: () => undefined, warn: () => undefined },
    facts: { kind: 'proxy', name: 'a' },
    duties: [],
  });
  life.serve({
    onChange: () => {
      if (isAway) return Promise.reject(new Error('the database is away'));
      read.push(revision);
      return Promise.resolve();
    },
    onLost: () => undefined,
  });
  await life.start();
  read.length = 0;
  [revision, isAway] = [2, true];
  await vi.advanceTimersByTimeAsync(2 * PEER_BEAT_MS);
  expect(read).toEqual([]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(2 * PEER_BEAT_MS);
  expect(read).toEqual([2]);
  await life.stop();
});
