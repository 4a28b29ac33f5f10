/**
 * Entities whose workflow has ended for good: what still comes for one is answered from its last state (D11).
 * Owns that answer; the rules are the machine's, and the state is the store's.
 */
import { wholeState } from '../core/machine.ts';
import { machineOf } from '../core/machines.ts';
import type { ProjectionRow } from '../core/projection.ts';
import type { Clock } from '../ports/clock.ts';
import type { CommitBatch, EngineStore, Json, StoredEntity } from '../ports/engine-store.ts';
import type { AddressedLetter } from '../workflows/letter.ts';

export interface Tombstones {
  /** What the ended entity says to the letter; null when there is no such tombstone. */
  answer(letter: AddressedLetter): Promise<readonly AddressedLetter[] | null>;
}

export function tombstones(store: Pick<EngineStore, 'load' | 'commit'>, clock: Clock): Tombstones {
  return {
    async answer(letter) {
      const stored = await store.load(letter.to);
      if (stored?.done !== true) return null;
      const machine = machineOf(letter.to.machine);
      // An entity of the embedded engine may lie in parts; what is written here is whole.
      const was = wholeState(machine, stored);
      const { state, commands } = machine.step(was, letter.event, clock.now());
      const rows = commands.flatMap((command): readonly ProjectionRow[] =>
        command.type === 'project' ? command.rows : [],
      );
      const { address, deadline, done } = stored;
      if (state !== was)
        await store.commit(rowsAndState(rows, { address, state: state as Json, deadline, done }));
      // An ended entity orders nothing that anybody would have to carry out.
      return commands.flatMap((command) =>
        command.type === 'tell'
          ? [{ to: command.to, id: `${letter.id}>${command.id}`, event: command.event }]
          : [],
      );
    },
  };
}

/** A batch of rows, and the state of an entity that has ended. */
export function rowsAndState(rows: readonly ProjectionRow[], entity: StoredEntity | null): CommitBatch {
  return {
    entities: entity === null ? [] : [entity],
    outboxAdded: [],
    outboxRetried: [],
    outboxRemoved: [],
    inboxAdded: [],
    inboxRemoved: [],
    projections: rows,
  };
}
