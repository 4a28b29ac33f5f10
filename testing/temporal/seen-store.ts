/**
 * A store that tells of the rows it wrote.
 * Owns nothing of what is stored.
 */
import type { EngineStore } from '../../ports/engine-store.ts';
import type { Journal } from '../../ports/journal.ts';
import type { ProjectionRow } from '../../core/machine/projection.ts';

/** `onRows` hears of rows when they are written: a model sees them then, as placement does. */
export function heardStore(
  store: EngineStore & Journal,
  onRows: (rows: readonly ProjectionRow[]) => void,
): EngineStore & Journal {
  return {
    ...boundTo(store),
    async commit(batch) {
      await store.commit(batch);
      if (batch.projections.length > 0) onRows(batch.projections);
    },
    async commitJournaled(entry, batch) {
      const verdict = await store.commitJournaled(entry, batch);
      if (verdict.kind === 'applied' && batch.projections.length > 0) onRows(batch.projections);
      return verdict;
    },
    latest: (entity) => store.latest(entity),
  };
}

function boundTo(store: EngineStore): EngineStore {
  return {
    load: (address) => store.load(address),
    armed: () => store.armed(),
    outbox: () => store.outbox(),
    inbox: () => store.inbox(),
    commit: (batch) => store.commit(batch),
  };
}
