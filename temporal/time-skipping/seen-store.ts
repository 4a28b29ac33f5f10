/**
 * A store that tells of the rows it wrote, and tombstones whose answers count as steps.
 * Owns nothing of what is stored.
 */
import { machineOf } from '../../core/machines.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EngineStore } from '../../ports/engine-store.ts';
import type { Journal } from '../../ports/journal.ts';
import type { ProjectionRow } from '../../core/projection.ts';
import { tombstones, type Tombstones } from '../tombstones.ts';
import type { StepRecord } from '../../workflows/entity.ts';

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

/** What an ended entity answers is a step as well, though no workflow takes it. */
export function observedTombstones(
  store: EngineStore,
  clock: Clock,
  onStep: (step: StepRecord) => void,
): Tombstones {
  const buried = tombstones(store, clock);
  return {
    async answer(letter) {
      const stored = await store.load(letter.to);
      const said = await buried.answer(letter);
      if (stored === null || said === null) return said;
      const at = clock.now();
      const { state, commands } = machineOf(letter.to.machine).step(stored.state, letter.event, at);
      if (state !== stored.state || commands.length > 0)
        onStep({ address: letter.to, at, event: letter.event, after: state, commands });
      return said;
    },
  };
}
