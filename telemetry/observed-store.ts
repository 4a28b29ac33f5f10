/**
 * A store whose rows are watched: each is counted, and the first of an entity is exported as its root span.
 * Owns that a row is reported once it is written; must not write one itself.
 */
import type { ProjectionRow } from '../core/machine/projection.ts';
import type { Clock } from '../ports/clock.ts';
import type { CommitBatch, EngineStore } from '../ports/engine-store.ts';
import type { Journal } from '../ports/journal.ts';
import type { Observers } from './observers.ts';
import { rootSpansOf } from './root-span.ts';

/** The ways to write rows; a driver uses one of them or both. */
type Committing = Partial<Pick<EngineStore, 'commit'> & Journal>;

export interface Observing {
  readonly clock: Clock;
  readonly observers: Observers;
}

/** The same store, watched; its methods stand alone and need no `this`. */
export function observedStore<Store extends Committing>(store: Store, observing: Observing): Store {
  const told = ({ projections }: CommitBatch): void => tellRows(projections, observing);
  return {
    ...store,
    ...(store.commit === undefined ? {} : { commit: committing(store.commit, told) }),
    ...(store.commitJournaled === undefined
      ? {}
      : { commitJournaled: journaling(store.commitJournaled, told) }),
  };
}

function committing(
  commit: EngineStore['commit'],
  told: (batch: CommitBatch) => void,
): EngineStore['commit'] {
  return async (batch) => {
    await commit(batch);
    told(batch);
  };
}

function journaling(
  commit: Journal['commitJournaled'],
  told: (batch: CommitBatch) => void,
): Journal['commitJournaled'] {
  return async (entry, batch) => {
    const verdict = await commit(entry, batch);
    if (verdict.kind === 'applied') told(batch);
    return verdict;
  };
}

function tellRows(rows: readonly ProjectionRow[], { clock, observers }: Observing): void {
  const { meters, spans } = observers;
  meters.wrote(rows);
  if (spans === null) return;
  for (const row of rows) for (const span of rootSpansOf(row, clock.now())) spans.add(span);
}
