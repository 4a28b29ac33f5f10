/** A clock that is set: no deadline is lost, limits of time at work keep what is left of them, and a session ends by the wall clock. */
import { expect, it } from 'vitest';
import { MAX_SESSION_MS, START_TIMEOUT_MS } from '../../core/limits.ts';
import { HOUR_MS } from '../../core/time.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { sandboxOf, untilCancelled } from './fake-activities.ts';
import { beginLife, conversationAt, newStore, started } from './engine-harness.ts';
import { turns } from './movable-clock.ts';

const SANDBOX = { machine: 'sandbox', id: sandboxOf(conversationAt(1)) } as const;
const BACK_MS = 90_000;

it('pauses at the session limit although the clock was set back as it struck', async () => {
  const store = await newStore();
  const { engine, clock } = await beginLife({ store });
  await engine.deliver(started(1));
  await engine.settled();
  const phase = async (): Promise<string | undefined> =>
    ((await store.engine.load(SANDBOX))?.state as unknown as SandboxState | undefined)?.phase;
  expect(await phase()).toBe('running');
  const end = clock.now() + MAX_SESSION_MS;
  await clock.moveTo(end - 1);
  let wasSetBack = false;
  const settle = async (): Promise<void> => {
    if (clock.now() === end && !wasSetBack) {
      wasSetBack = true;
      clock.setBack(BACK_MS);
    }
    await turns();
  };
  await clock.moveTo(end, settle);
  expect(wasSetBack).toBe(true);
  await clock.moveTo(end + 1);
  expect(await phase()).not.toBe('running');
  await engine.stop();
});

const phaseIn = async (store: Awaited<ReturnType<typeof newStore>>): Promise<string | undefined> =>
  ((await store.engine.load(SANDBOX))?.state as unknown as SandboxState | undefined)?.phase;

it('ends a session by the wall clock: also the hours of a night count in which the machine was suspended (D10)', async () => {
  const store = await newStore();
  const { engine, clock } = await beginLife({ store });
  await engine.deliver(started(1));
  await engine.settled();
  await clock.move(HOUR_MS);
  clock.setForward(MAX_SESSION_MS - HOUR_MS - 1);
  await clock.move(0);
  expect(await phaseIn(store)).toBe('running');
  await clock.move(1);
  expect(await phaseIn(store)).not.toBe('running');
  await engine.stop();
});

it.each([
  ['forward', 8 * HOUR_MS],
  ['back', -8 * HOUR_MS],
] as const)('gives a start its time, no more and no less, when the clock is set %s', async (_way, byMs) => {
  const store = await newStore();
  const onClockSet: number[] = [];
  const { engine, clock } = await beginLife({
    store,
    activities: { createSandbox: (_command, context) => untilCancelled(context) },
    onClockSet: (ms) => void onClockSet.push(ms),
  });
  await engine.deliver(started(1));
  await turns();
  expect(await phaseIn(store)).toBe('starting');
  await clock.move(1_000);
  clock.setForward(byMs);
  await clock.move(START_TIMEOUT_MS - 1_001);
  expect(await phaseIn(store)).toBe('starting');
  await clock.move(1);
  expect(await phaseIn(store)).not.toBe('starting');
  expect(onClockSet).toEqual([byMs]);
  await engine.stop();
});

it('moves limits along also when the first commits of that fail', async () => {
  const store = await newStore();
  const life = await beginLife({
    store,
    activities: { createSandbox: (_command, context) => untilCancelled(context) },
  });
  const { engine, clock } = life;
  await engine.deliver(started(1));
  await turns();
  life.store.failures = 2;
  clock.setForward(8 * HOUR_MS);
  await clock.move(2_000);
  expect(life.store.failures).toBe(0);
  expect(await phaseIn(store)).toBe('starting');
  await clock.move(START_TIMEOUT_MS - 2_000);
  expect(await phaseIn(store)).not.toBe('starting');
  await engine.stop();
});
