/** Paging through calls: a store that answers at once must not keep other work from its turn. */
import { expect, it } from 'vitest';
import { joinablePages } from '../../activities/reconcile/run-calls.ts';
import type { World } from '../../activities/world.ts';
import type { JoinableCall } from '../../core/money/spend.ts';
import type { CallPage } from '../../ports/spend-log.ts';

const CALL: JoinableCall = {
  callId: 'call',
  state: 'succeeded',
  startedAt: 1,
  endedAt: 2,
  modelName: 'coder',
  upstreamModel: 'coder',
  httpStatus: 200,
  responseId: null,
  sessionId: null,
  user: null,
  promptTokens: 1,
  completionTokens: 1,
};

it('ends the turn between pages, so that a thread begins while calls are read', async () => {
  let [turns, asked] = [0, 0];
  const spend = {
    joinable: () => {
      asked += 1;
      return Promise.resolve(asked > 3 ? [] : Array.from({ length: 1_000 }, () => CALL));
    },
  } as unknown as World['spend'];
  const counted = (): void => {
    turns += 1;
    if (asked <= 3) setImmediate(counted);
  };
  setImmediate(counted);
  const seen: number[] = [];
  for await (const page of joinablePages({ spend } as World, { from: 0, to: 10 })) {
    seen.push(turns);
    expect(page.length).toBe(seen.length > 3 ? 0 : 1_000);
  }
  expect(seen.length).toBe(4);
  expect(seen[3]).toBeGreaterThanOrEqual(3);
});

it('gives every call once and empties a page that was gone through, so that no promise keeps it', async () => {
  const all = Array.from({ length: 2_500 }, (_, at) => ({ ...CALL, callId: `call-${at}`, startedAt: at }));
  const pages: JoinableCall[][] = [];
  const spend = {
    joinable: ({ after, limit }: CallPage) => {
      const page = all.filter(({ startedAt }) => startedAt > (after?.startedAt ?? -1)).slice(0, limit);
      pages.push(page);
      return Promise.resolve(page);
    },
  } as unknown as World['spend'];
  const seen: string[] = [];
  for await (const page of joinablePages({ spend } as World, { from: 0, to: 10_000 })) {
    seen.push(...page.map(({ callId }) => callId));
  }
  expect(seen).toEqual(all.map(({ callId }) => callId));
  expect(pages.map(({ length }) => length)).toEqual([0, 0, 0]);
});
