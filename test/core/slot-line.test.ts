/** The queue for slots: first come, first served, and no user held up by another's limit. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { userId, type UserId } from '../../core/ids.ts';
import type { HostCandidate } from '../../core/placement/choose-host.ts';
import { hostSeats } from '../../core/placement/host-seats.ts';
import {
  describeWait,
  pollAgainMs,
  pollForHostMs,
  pollForRoomMs,
  positionOf,
  positionsOf,
  slotReadyFor,
  type SlotCounts,
  type Waiter,
} from '../../core/placement/line.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';

const stand = (waiterId: string, user = 'u'): Waiter => ({
  waiterId,
  machine: 'conversation',
  userId: userId(user),
});
const counts = (taken: Readonly<Record<string, number>>, max: Partial<SlotCounts> = {}): SlotCounts => ({
  installationMax: 100,
  userMax: 10,
  taken: Object.values(taken).reduce((sum, count) => sum + count, 0),
  takenBy: (user) => taken[user] ?? 0,
  ...max,
});
const names = (turns: readonly Waiter[]) => turns.map(({ waiterId }) => waiterId);

const machine = (name: string, changes: Partial<HostCandidate> = {}): HostCandidate => ({
  ...{ name, runtime: 'process', capacity: 1, up: 0, labels: {}, isLive: true, draining: false },
  ...changes,
});
const onHosts = (hosts: readonly HostCandidate[], max: Partial<SlotCounts> = {}): SlotCounts =>
  counts({}, { takeSeat: hostSeats(hosts, { runtime: 'process', strategy: 'spread' }).take, ...max });

describe('turns in the line to hosts', () => {
  const pinned = (waiterId: string, name: string): Waiter => ({ ...stand(waiterId), host: { name } });

  it('pass over who waits for a host of its own, however few slots there are', () => {
    const line = [pinned('a', 'gone'), pinned('b', 'full'), stand('c'), pinned('d', 'one')];
    const hosts = [machine('full', { up: 1 }), machine('one'), machine('two')];
    // The third takes the emptiest, which is "one" by its name: nothing is left for the fourth.
    expect(names(slotReadyFor(line, onHosts(hosts)))).toEqual(['c']);
    const roomy = [machine('full', { up: 1 }), machine('one', { capacity: 2 }), machine('two')];
    expect(names(slotReadyFor(line, onHosts(roomy, { installationMax: 2 })))).toEqual(['c', 'd']);
  });

  it('keep the last room of a host for who came first', () => {
    const line = [pinned('a', 'one'), pinned('b', 'one'), stand('c')];
    expect(names(slotReadyFor(line, onHosts([machine('one'), machine('two')])))).toEqual(['a', 'c']);
  });

  it('go back to a host that drains only for what lives there', () => {
    const hosts = [machine('one', { draining: true, capacity: 2 })];
    const home: Waiter = { ...stand('home'), machine: 'sandbox', host: { name: 'one', alsoDraining: true } };
    expect(names(slotReadyFor([pinned('a', 'one'), home, stand('c')], onHosts(hosts)))).toEqual(['home']);
  });

  it('need no host where sandboxes are bound to none', () => {
    const seats = hostSeats([], undefined);
    expect(names(slotReadyFor([stand('a')], counts({}, { takeSeat: seats.take })))).toEqual(['a']);
  });

  it('look again for a host oftener in front, and never less than every quarter of an hour', () => {
    expect([1, 60, 10_000].map(pollForHostMs)).toEqual([61_000, 120_000, 900_000]);
  });
});

describe('turns in the line', () => {
  it.each([
    { says: 'nobody while all are taken', taken: { u: 10 }, line: [stand('a')], turns: [] },
    {
      says: 'as many as are free',
      taken: { u: 8 },
      line: [stand('a'), stand('b'), stand('c')],
      turns: ['a', 'b'],
    },
    {
      says: 'whoever comes behind somebody whose own limit is reached',
      taken: { u: 10, v: 2 },
      line: [stand('a'), stand('b', 'v'), stand('c')],
      turns: ['b'],
    },
  ])('have $says', ({ taken, line, turns }) => {
    expect(names(slotReadyFor(line, counts(taken)))).toEqual(turns);
  });

  it('end where the installation has no more, in order over all users', () => {
    const line = [stand('a', 'v'), stand('b'), stand('c', 'w')];
    expect(names(slotReadyFor(line, counts({ u: 1, v: 1 }, { installationMax: 4 })))).toEqual(['a', 'b']);
  });

  it('keep what is free for somebody from everybody behind, also from who only comes now', () => {
    const line = [stand('a')];
    expect(positionOf(stand('late'), line, counts({ u: 9 }))).toBe(1);
    expect(positionOf(stand('a'), line, counts({ u: 9 }))).toBeNull();
    expect(positionOf(stand('late'), line, counts({ u: 8 }))).toBeNull();
  });

  it('leave no slot idle that somebody of the line may have, and pass no limit', () => {
    const waiter = fc.record({
      waiterId: fc.uuid(),
      machine: fc.constant('conversation' as const),
      userId: fc.constantFrom('u', 'v', 'w').map(userId),
    });
    const taken = fc.record({ u: fc.nat(5), v: fc.nat(5), w: fc.nat(5) });
    fc.assert(
      fc.property(
        fc.array(waiter, { maxLength: 20 }),
        taken,
        fc.nat(20),
        fc.nat(6),
        (line, held, all, own) => {
          const state = counts(held, { installationMax: all, userMax: own });
          const turns = slotReadyFor(line, state);
          const after = (user: UserId) =>
            state.takenBy(user) + turns.filter((turn) => turn.userId === user).length;
          const isFull = state.taken + turns.length >= all;
          for (const one of line.filter((other) => !turns.includes(other)))
            expect(isFull || after(one.userId) >= own).toBe(true);
          if (turns.length > 0) expect(state.taken + turns.length).toBeLessThanOrEqual(all);
          for (const { userId: user } of turns) expect(after(user)).toBeLessThanOrEqual(own);
        },
      ),
      { seed: 20240601 },
    );
  });
});

describe('positions in the line', () => {
  /** `waiting` names the user of each in order; the answer is their positions, null for one whose turn it is. */
  const positions = (
    waiting: string,
    taken: Readonly<Record<string, number>>,
    max: Pick<SlotCounts, 'installationMax' | 'userMax'>,
  ) => {
    const line = [...waiting].map((user, index) => stand(String(index), user));
    const found = positionsOf(line, counts(taken, max));
    return line.map(({ waiterId }) => found.get(waiterId) ?? null);
  };
  const wide = { installationMax: 100, userMax: 3 };

  it('give free slots to those that came first', () => {
    expect(positions('aaaaa', { a: 1 }, wide)).toEqual([null, null, 1, 2, 3]);
    expect(positions('aa', { a: 3 }, wide)).toEqual([1, 2]);
    expect(positions('', { a: 3 }, wide)).toEqual([]);
  });

  it('let nobody wait behind a user who is at the own limit', () => {
    expect(positions('aab', { a: 3 }, wide)).toEqual([1, 2, null]);
    expect(positions('abab', { a: 3, b: 2 }, wide)).toEqual([1, null, 2, 1]);
  });

  it('count everybody in front where the installation is full', () => {
    const narrow = { installationMax: 4, userMax: 3 };
    expect(positions('aba', { a: 1, c: 3 }, narrow)).toEqual([1, 2, 3]);
    expect(positions('aba', { a: 1, c: 2 }, narrow)).toEqual([null, 1, 2]);
  });

  it('let everybody wait where a limit was lowered below what is taken', () => {
    expect(positions('ab', { a: 9 }, { installationMax: 4, userMax: 3 })).toEqual([1, 2]);
  });

  it('look for room soon in front, and seldom far behind', () => {
    expect([1, 2, 1_000].map(pollForRoomMs)).toEqual([1_000, 2_000, 30_000]);
  });

  it.each([
    { lookAgainMs: 1_000, waitedMs: 0, polls: 1_000 },
    { lookAgainMs: 1_000, waitedMs: 2 * MINUTE_MS, polls: 1_000 },
    { lookAgainMs: 2_000, waitedMs: 10 * MINUTE_MS, polls: 5_000 },
    { lookAgainMs: 1_000, waitedMs: HOUR_MS, polls: 30_000 },
    { lookAgainMs: 1_000, waitedMs: 7 * DAY_MS, polls: 30_000 },
    { lookAgainMs: 2 * MINUTE_MS, waitedMs: 7 * DAY_MS, polls: 2 * MINUTE_MS },
    { lookAgainMs: undefined, waitedMs: 0, polls: 15 * MINUTE_MS },
  ])('polls after $polls ms when it has waited for $waitedMs', ({ lookAgainMs, waitedMs, polls }) => {
    expect(pollAgainMs(lookAgainMs, waitedMs)).toBe(polls);
  });
});

it('says who has the slots', () => {
  expect(describeWait({ limit: 3, current: 3, ofRun: null })).toBe('capacity (3 of 3 in use)');
  expect(describeWait({ limit: 10, current: 10, ofRun: 7 })).toBe(
    'capacity (10 of 10 in use: 7 of this run, 3 others)',
  );
});
