/** Commits batch after batch, and prints the number of each once it is acknowledged. Arguments: database, first number. */
import { writeSync } from 'node:fs';
import { openStore } from '../../../store/open-store.ts';
import { batch, entity, outboxEntry, runRow } from '../../contract/store-rows.ts';

/** Wide enough that a batch is several pages of the file. */
const ENTITIES = 40;

export async function runWriter(args: readonly string[]): Promise<void> {
  const [database = '', first = '1'] = args;
  const store = await openStore({ kind: 'sqlite', path: database });
  for (let round = Number(first); ; round += 1) {
    const addresses = Array.from(
      { length: ENTITIES },
      (_, index) => ({ machine: 'run', id: `e${index}` }) as const,
    );
    await store.engine.commit(
      batch({
        entities: addresses.map((address) =>
          entity(address, { state: { round, filler: 'x'.repeat(500) }, deadline: round }),
        ),
        outboxAdded: [outboxEntry(`command-${round}`)],
        outboxRemoved: [`command-${round - 1}`],
        projections: [runRow({ sequence: round })],
      }),
    );
    writeSync(1, `${round}\n`);
  }
}
