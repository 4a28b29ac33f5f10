/** A store whose rows the model sees, and tombstones whose answers count as steps. Owns nothing of what is stored. */
import { machineOf } from '../../../core/machines.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EngineStore } from '../../../ports/engine-store.ts';
import type { World } from '../../../simulator/models/world.ts';
import { tombstones, type Tombstones } from '../../../temporal/tombstones.ts';
import type { StepRecord } from '../../../workflows/entity.ts';

/** The model sees rows when they are written, as placement does. */
export function projectedTo(world: World, store: EngineStore): EngineStore {
  return {
    ...boundTo(store),
    async commit(batch) {
      await store.commit(batch);
      world.project(batch.projections);
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
