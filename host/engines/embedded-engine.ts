/**
 * The embedded engine as a host uses it.
 * Owns the words in which it reports trouble.
 */
import { activitiesOf } from '../../activities/registry.ts';
import { reportedActivities } from '../../activities/reported-activities.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import { SILENT_METERS } from '../../telemetry/meters.ts';
import { observedActivities } from '../../telemetry/observed-activities.ts';
import { observedStore } from '../../telemetry/observed-store.ts';
import type { EngineParts, HostEngine } from './host-engine.ts';
import { openHostSpans } from '../host-spans.ts';

/** @throws ParleyError config_invalid when spans cannot be sent as the environment says */
export function openEmbeddedEngine(parts: EngineParts): HostEngine {
  const { onRows, onNotice } = parts;
  const engine = new Engine({
    ...watched(parts),
    clock: systemClock,
    onCommit: onRows,
    onStepError: (error, to) =>
      onNotice(`Cannot apply an event to ${to.machine} "${to.id}": ${String(error)}`),
    onCommitError: (error) => onNotice(`Cannot write to the store, trying again: ${String(error)}`),
  });
  return {
    facts: { kind: 'embedded' },
    notices: engine,
    requests: engine,
    start: () => engine.start(),
    isReady: () => Promise.resolve(true),
    stop: () => engine.stop(),
  };
}

/** Store and activities, traced when spans are collected: the same ones as on Temporal (D21). */
function watched(parts: EngineParts): Pick<ConstructorParameters<typeof Engine>[0], 'store' | 'activities'> {
  const store = parts.store.engine;
  const told = { troubles: parts.store.troubles, clock: systemClock };
  const activities = reportedActivities(activitiesOf(parts.world), told);
  const spans = openHostSpans(parts);
  if (spans === null) return { store, activities };
  const observers = { meters: SILENT_METERS, spans };
  return {
    store: observedStore(store, { clock: systemClock, observers }),
    activities: observedActivities({ activities, clock: systemClock }, observers),
  };
}
