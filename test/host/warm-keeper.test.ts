/** The rhythm of the keeper of the warm pool: rounds, the pause after failed boots, and an end that waits for little. */
import { expect, it } from 'vitest';
import { startWarmKeeper } from '../../host/sandboxes/warm-keeper.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { WarmHeld } from '../../ports/warm-meter.ts';
import { activityWorld } from '../activities/activity-world.ts';
import { eventually } from '../api/service.ts';

const WISH = { size: 1, maxAgeMs: 3_600_000, spec: 'a' };

async function kept() {
  const around = await activityWorld({ warmPool: WISH });
  const notices: string[] = [];
  const seen: WarmHeld[] = [];
  const turn = { isOurs: true };
  const listeners = {
    leads: () => turn.isOurs,
    meter: { held: (held: WarmHeld) => void seen.push(held) },
    onNotice: (text: string) => void notices.push(text),
  };
  const begin = () => startWarmKeeper(around.world, listeners);
  const rounds = (count: number) =>
    eventually(
      () => Promise.resolve(seen.length),
      (all) => all >= count,
    );
  const ready = () =>
    eventually(
      () => around.world.warmPool.figures(),
      (figures) => figures.ready === 1,
    );
  return { ...around, turn, begin, notices, seen, rounds, ready };
}

it('fills the pool, tells how it stands, and looks again a second later', async () => {
  const { begin, clock, seen, rounds, ready, runtime, world } = await kept();
  const keeper = begin();
  await ready();
  await clock.move(1_000);
  await rounds(2);
  expect(seen.at(-1)).toEqual({ wanted: 1, booting: 0, ready: 1, leaving: 0 });
  const [held] = await world.warmPool.held();
  runtime.presences.delete(held?.sandboxId as never);
  await clock.move(5_000);
  await eventually(
    () => world.warmPool.held(),
    ([one]) => one?.state === 'ready' && one.sandboxId !== held?.sandboxId,
  );
  await keeper.close();
});

it('does nothing while another keeps the pool, and begins once it is its turn', async () => {
  const { begin, clock, seen, rounds, ready, turn, world } = await kept();
  turn.isOurs = false;
  const keeper = begin();
  await clock.move(1_000);
  await rounds(2);
  expect(seen.at(-1)).toEqual({ wanted: 0, booting: 0, ready: 0, leaving: 0 });
  expect(await world.warmPool.held()).toEqual([]);
  turn.isOurs = true;
  await clock.move(1_000);
  await ready();
  await keeper.close();
});

it('pauses after a boot that failed, longer after each, and says so once', async () => {
  const { begin, clock, rounds, seen, ready, runtime, notices } = await kept();
  const start = runtime.start.bind(runtime);
  let tries = 0;
  runtime.start = () => {
    tries += 1;
    return Promise.reject(new ParleyError('runtime_failed', 'no memory'));
  };
  const keeper = begin();
  await eventually(
    () => Promise.resolve(notices.length),
    (count) => count === 1,
  );
  for (let second = 1; second <= 4; second += 1) {
    await rounds(seen.length);
    const before = seen.length;
    await clock.move(1_000);
    await rounds(before + 1);
  }
  expect(tries).toBe(1);
  await clock.move(1_000);
  await eventually(
    () => Promise.resolve(tries),
    (count) => count === 2,
  );
  runtime.start = start;
  await clock.move(10_000);
  await ready();
  expect(notices).toEqual(['Cannot boot a warm sandbox: no memory']);
  await keeper.close();
});

it('leaves a boot that takes long to whoever comes next', async () => {
  const { begin, clock, runtime, world, ready } = await kept();
  const start = runtime.start.bind(runtime);
  runtime.start = (request) => new Promise(() => void request);
  const keeper = begin();
  await eventually(
    () => world.warmPool.figures(),
    ({ booting }) => booting === 1,
  );
  const closing = keeper.close();
  await eventually(
    () => Promise.resolve(clock.timers.length),
    (armed) => armed > 0,
  );
  await clock.move(2_000);
  await closing;
  runtime.start = start;
  const [left] = await world.warmPool.held();
  const next = begin();
  await ready();
  expect((await world.warmPool.held()).map(({ sandboxId }) => sandboxId)).toEqual([left?.sandboxId]);
  await next.close();
});
