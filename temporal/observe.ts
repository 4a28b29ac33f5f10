/**
 * Observes what a worker carries out: everything is counted, and recorded as spans where there is a sink for them.
 * Owns where the observers are attached; must not change what is carried out.
 */
import { Context } from '@temporalio/activity';
import type { CarrierOptions } from './carrier.ts';
import type { Tombstones } from './tombstones.ts';
import { observedActivities, type Watching } from '../telemetry/observed-activities.ts';
import { observedStore } from '../telemetry/observed-store.ts';
import type { Observers } from '../telemetry/observers.ts';

/** The same options, observed. */
export function observed(options: CarrierOptions, observers: Observers): CarrierOptions {
  const { activities, clock } = options;
  return {
    ...options,
    store: observedStore(options.store, { clock, observers }),
    send: observedSend(options.send, observers),
    activities: observedActivities({ activities, clock, watching: watchingHere }, observers),
  };
}

/** A watch is one activity of the server's, and each poll a try of it. */
function watchingHere(): Watching {
  const { info } = Context.current();
  return { startMs: info.scheduledTimestampMs, polls: info.attempt };
}

/** The same, counted. */
export function observedTombstones(
  tombstones: Tombstones,
  { meters }: Pick<Observers, 'meters'>,
): Tombstones {
  return {
    async answer(envelope) {
      const answer = await tombstones.answer(envelope);
      if (answer?.kind === 'answered') meters.answeredForEnded(envelope.to.machine);
      return answer;
    },
  };
}

function observedSend(send: CarrierOptions['send'], { meters }: Observers): CarrierOptions['send'] {
  return async (envelope) => {
    try {
      await send(envelope);
      meters.sent(envelope.to.machine, 'sent');
    } catch (error) {
      meters.sent(envelope.to.machine, 'failed');
      throw error;
    }
  };
}
