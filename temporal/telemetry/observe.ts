/**
 * Watches what a worker carries out: everything is counted, and told as spans where somebody takes them.
 * Owns where the looking is done; must not change what is carried out.
 */
import type { CarrierOptions } from '../carrier.ts';
import type { Tombstones } from '../tombstones.ts';
import { observedActivities } from './observed-activities.ts';
import type { Observers } from './observers.ts';
import { rootSpanOf } from './root-span.ts';

/** The same options, watched. */
export function observed(options: CarrierOptions, observers: Observers): CarrierOptions {
  return {
    ...options,
    store: observedStore(options, observers),
    send: observedSend(options.send, observers),
    activities: observedActivities(options, observers),
  };
}

export function observedTombstones(
  tombstones: Tombstones,
  { meters }: Pick<Observers, 'meters'>,
): Tombstones {
  return {
    async answer(letter) {
      const answers = await tombstones.answer(letter);
      if (answers !== null) meters.answeredForEnded(letter.to.machine);
      return answers;
    },
  };
}

function observedStore(
  { store, clock }: CarrierOptions,
  { meters, spans }: Observers,
): CarrierOptions['store'] {
  return {
    async commit(batch) {
      await store.commit(batch);
      meters.wrote(batch.projections);
      if (spans === null) return;
      for (const row of batch.projections) {
        const root = rootSpanOf(row, clock.now());
        if (root !== null) spans.add(root);
      }
    },
  };
}

function observedSend(send: CarrierOptions['send'], { meters }: Observers): CarrierOptions['send'] {
  return async (letter) => {
    try {
      await send(letter);
      meters.sent(letter.to.machine, 'sent');
    } catch (error) {
      meters.sent(letter.to.machine, 'failed');
      throw error;
    }
  };
}
