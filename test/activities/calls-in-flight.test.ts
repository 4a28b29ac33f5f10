/** A bill is read while calls are in flight: a row that may be one of theirs is no difference before its time is up. */
import { expect, it } from 'vitest';
import { reconcileNow } from '../../activities/reconcile-run.ts';
import type { GatewayRow } from '../../core/money/spend.ts';
import { gatewayRow, NOW, RECONCILE, RUN, runUnderTest, type RunUnderTest } from './reconcile-world.ts';

const EXACT = { ...RECONCILE, unmatchedNanoUsdMax: 0, unbilledMax: 0 };

interface Moved {
  /** Runs when so many milliseconds were waited. */
  readonly at: number;
  readonly does: (test: RunUnderTest) => Promise<void>;
}

/** A gateway that bills `row`, and what else happens from the first request for the bill on. */
async function reconciled(row: Partial<GatewayRow>, moved: readonly Moved[]) {
  let now = NOW;
  let left = [...moved];
  const happens = async (): Promise<void> => {
    const due = left.filter(({ at }) => NOW + at <= now);
    left = left.filter(({ at }) => NOW + at > now);
    for (const { does } of due) await does(test);
  };
  const test: RunUnderTest = await runUnderTest({
    plan: { reconcile: EXACT },
    clock: {
      now: () => now,
      steady: () => now,
      setTimer: (at, fire) => {
        now = Math.max(now, at);
        void happens().then(fire);
        return { cancel: () => undefined };
      },
    },
    export: {
      rows: async () => {
        await happens();
        return [
          gatewayRow(1, { startedAt: NOW - 2_000, endedAt: NOW - 1_000, responseId: 'theirs', ...row }),
        ];
      },
    },
  });
  const known = { callId: 'c0', sessionId: test.conversation('a'), responseId: 'ours', state: 'failed' };
  await test.spent({ ...known, httpStatus: 500 } as never);
  const { summary } = await reconcileNow(test.world, RUN);
  return { isKept: summary.withinTolerance, waitedMs: now - NOW };
}

const THEIRS = {
  callId: 'c9',
  sessionId: 'd'.repeat(32),
  startedAt: NOW - 2_000,
  upstreamModel: 'openai/small',
};
const open = ({ spent }: RunUnderTest): Promise<void> =>
  spent({ ...THEIRS, state: 'open', endedAt: null, responseId: null });
const closed = ({ spent }: RunUnderTest): Promise<void> =>
  spent({ ...THEIRS, state: 'succeeded', endedAt: NOW + 1, responseId: 'theirs' });

it('finds a call of another run that was sent after our calls were there and before the bill was read', async () => {
  expect(await reconciled({}, [{ at: 0, does: closed }])).toEqual({ isKept: true, waitedMs: 0 });
});

it('waits for a call of another run that is billed and has not ended', async () => {
  const moved = [
    { at: 0, does: open },
    { at: 20_000, does: closed },
  ];
  const { isKept, waitedMs } = await reconciled({}, moved);
  expect(isKept).toBe(true);
  expect(waitedMs).toBeGreaterThanOrEqual(20_000);
  expect(waitedMs).toBeLessThan(40_000);
});

it('waits for what another proxy has not written yet, and not where the row is old', async () => {
  const moved = [{ at: 1_000, does: closed }];
  expect((await reconciled({}, moved)).isKept).toBe(true);
  const old = { startedAt: NOW - 60_000, endedAt: NOW - 59_000 };
  expect(await reconciled(old, moved)).toEqual({ isKept: false, waitedMs: 0 });
});

it('says a difference in the end: nobody has the row, its call is stuck, or the open one is of another model', async () => {
  const nobodys = await reconciled({}, []);
  expect(nobodys.isKept).toBe(false);
  expect(nobodys.waitedMs).toBeLessThan(5_000);
  const stuck = await reconciled({}, [{ at: 0, does: open }]);
  expect(stuck.isKept).toBe(false);
  expect(stuck.waitedMs).toBeGreaterThanOrEqual(60_000);
  expect(stuck.waitedMs).toBeLessThan(80_000);
  const other = await reconciled({ model: 'another' }, [{ at: 0, does: open }]);
  expect(other.isKept).toBe(false);
  expect(other.waitedMs).toBeLessThan(5_000);
});

it('does not miss on the bill a call of ours that ended after it was read', async () => {
  const ours = async ({ spent, conversation }: RunUnderTest): Promise<void> => {
    await closed({ spent } as RunUnderTest);
    await spent({ callId: 'c1', sessionId: conversation('a'), responseId: 'late', endedAt: NOW + 5 });
  };
  expect((await reconciled({}, [{ at: 0, does: ours }])).isKept).toBe(true);
});
