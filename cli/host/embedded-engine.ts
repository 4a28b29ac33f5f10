/**
 * The embedded engine as a host uses it.
 * Owns the words in which it tells of trouble.
 */
import { activitiesOf } from '../../activities/registry.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { EngineParts, HostEngine } from './host-engine.ts';

export function openEmbeddedEngine({ store, world, onRows, onNotice }: EngineParts): HostEngine {
  const engine = new Engine({
    store: store.engine,
    activities: activitiesOf(world),
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
