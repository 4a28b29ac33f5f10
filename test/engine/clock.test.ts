/** A clock that is set back between a timer and the commit of its deadline: the deadline is not lost. */
import { expect, it } from 'vitest';
import { MAX_SESSION_MS } from '../../core/limits.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { sandboxOf } from './fake-activities.ts';
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
