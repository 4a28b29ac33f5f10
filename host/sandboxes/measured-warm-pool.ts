/**
 * Placement and the warm pool with a meter that counts.
 * Owns what counts as a claim, a lost one and one that was given up; changes no answer.
 */
import type { PlacementStore } from '../../ports/placement-store.ts';
import type { WarmMeter } from '../../ports/warm-meter.ts';
import type { WarmPool } from '../../ports/warm-pool.ts';

/** The world is wired before the engine, which has the page of metrics: until then nothing is counted. */
export interface LateWarmMeter extends WarmMeter {
  listener: WarmMeter | null;
}

export function lateWarmMeter(): LateWarmMeter {
  const late: LateWarmMeter = {
    listener: null,
    held: (held) => late.listener?.held(held),
    claim: (outcome) => late.listener?.claim(outcome),
    gaveUp: () => late.listener?.gaveUp(),
  };
  return late;
}

/** A repeated placement is counted again: it is the same claim, requested once more. */
export function measuredPlacement(placement: PlacementStore, meter: WarmMeter): PlacementStore {
  return {
    ...placement,
    async place(request) {
      const outcome = await placement.place(request);
      if (outcome.kind === 'warm_lost') meter.claim('lost');
      else if (outcome.kind === 'placed' && outcome.sandboxId === request.warm) meter.claim('claimed');
      return outcome;
    },
    async reserveSandbox(request) {
      const outcome = await placement.reserveSandbox(request);
      if (outcome.kind === 'warm_lost') meter.claim('lost');
      else if (outcome.kind === 'granted' && outcome.sandboxId !== undefined) meter.claim('claimed');
      return outcome;
    },
  };
}

export function measuredWarmPool(warmPool: WarmPool, meter: WarmMeter): WarmPool {
  return {
    ...warmPool,
    async giveUp(sandboxId) {
      const isGivenUp = await warmPool.giveUp(sandboxId);
      if (isGivenUp) meter.gaveUp();
      return isGivenUp;
    },
  };
}
