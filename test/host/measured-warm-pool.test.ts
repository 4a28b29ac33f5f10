/** What is counted about the warm pool, over a real store: claims, lost ones, and those that were given up. */
import { expect, it, onTestFinished } from 'vitest';
import {
  lateWarmMeter,
  measuredPlacement,
  measuredWarmPool,
} from '../../host/sandboxes/measured-warm-pool.ts';
import type { WarmHeld } from '../../ports/warm-meter.ts';
import { openStore } from '../../store/open-store.ts';
import { LIMITS, NOW, placeRequest, sandboxNumber, USER } from '../contract/store-rows.ts';

const NEW = { strategy: 'NO_GROUPING' } as const;

it('counts every claim once, and forgets what happened before anybody listened', async () => {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' });
  onTestFinished(() => store.close());
  const late = lateWarmMeter();
  const placement = measuredPlacement(store.placement, late);
  const warmPool = measuredWarmPool(store.warmPool, late);
  for (const index of [1, 2, 3, 4]) {
    const id = sandboxNumber(900 + index);
    await warmPool.reserve({ sandboxId: id, spec: 'a', limits: LIMITS, now: NOW });
    await warmPool.ready(id, NOW);
  }
  await warmPool.giveUp(sandboxNumber(904));
  const counted: (string | WarmHeld)[] = [];
  late.listener = {
    held: (held) => void counted.push(held),
    claim: (outcome) => void counted.push(outcome),
    gaveUp: () => void counted.push('given up'),
  };
  await placement.place(placeRequest(1, { ...NEW, warm: sandboxNumber(901) }));
  await placement.place(placeRequest(2, { ...NEW, warm: sandboxNumber(901) }));
  await placement.place(placeRequest(2, NEW));
  const request = { sandboxId: sandboxNumber(3), userId: USER, limits: LIMITS, now: NOW };
  await placement.reserveSandbox({ ...request, warm: sandboxNumber(901) });
  await placement.reserveSandbox({ ...request, warm: sandboxNumber(902) });
  await warmPool.giveUp(sandboxNumber(903));
  await warmPool.giveUp(sandboxNumber(903));
  const held = { wanted: 2, booting: 0, ready: 0, leaving: 2 };
  late.held(held);
  expect(counted).toEqual(['claimed', 'lost', 'lost', 'claimed', 'given up', held]);
});
