/** Whose turn it is when starts wait for a slot: order, limits, positions. */
import { describe, expect, it } from 'vitest';
import { conversationId, userId } from '../../core/ids.ts';
import { queuePositions, waitInQueue, type WaitingStart } from '../../core/start-queue.ts';

const start = (index: number, user: string): WaitingStart => ({
  conversationId: conversationId(String(index).padStart(32, '0')),
  userId: userId(user),
});

/** `waiting` names the user of each start in order; the answer is their positions, null for one whose turn it is. */
function positions(
  waiting: string,
  taken: Readonly<Record<string, number>>,
  limits: { readonly installationMax: number; readonly userMax: number },
): readonly (number | null)[] {
  const starts = [...waiting].map((user, index) => start(index, user));
  const found = queuePositions({ waiting: starts, taken: new Map(Object.entries(taken)) }, limits);
  return starts.map(({ conversationId: id }) => found.get(id) ?? null);
}

describe('queuePositions', () => {
  const wide = { installationMax: 100, userMax: 3 };

  it('gives free slots to those that came first', () => {
    expect(positions('aaaaa', { a: 1 }, wide)).toEqual([null, null, 1, 2, 3]);
    expect(positions('aa', { a: 3 }, wide)).toEqual([1, 2]);
    expect(positions('', { a: 3 }, wide)).toEqual([]);
  });

  it('lets nobody wait behind a user who is at the own limit', () => {
    expect(positions('aab', { a: 3 }, wide)).toEqual([1, 2, null]);
    expect(positions('abab', { a: 3, b: 2 }, wide)).toEqual([1, null, 2, 1]);
  });

  it('counts everybody in front where the installation is full', () => {
    const narrow = { installationMax: 4, userMax: 3 };
    expect(positions('aba', { a: 1, c: 3 }, narrow)).toEqual([1, 2, 3]);
    expect(positions('aba', { a: 1, c: 2 }, narrow)).toEqual([null, 1, 2]);
  });

  it('lets everybody wait where a limit was lowered below what is taken', () => {
    expect(positions('ab', { a: 9 }, { installationMax: 4, userMax: 3 })).toEqual([1, 2]);
  });

  it('asks again soon in front, and seldom far behind', () => {
    expect([1, 2, 1_000].map(waitInQueue)).toEqual([250, 500, 30_000]);
  });
});
