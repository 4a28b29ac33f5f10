/**
 * What an operator does about the journal by hand.
 * Owns the count and the forgetting; whether nobody drives the entities is for the caller to know.
 */
import type { Kysely, Transaction } from 'kysely';
import type { EntityAddress } from '../../core/ids.ts';
import type { JournalHeld, JournalUpkeep } from '../../ports/journal.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import type { Tables } from '../schema/tables.ts';

export function journalUpkeep(connection: StoreConnection): JournalUpkeep {
  return {
    held: (entity) => connection.read('read the journal', (db) => held(db, entity)),
    forget: (entity) =>
      connection.write('empty the journal', async (transaction) => {
        const found = await held(transaction, entity);
        let query = transaction.deleteFrom('journal');
        if (entity !== null) query = query.where('machine', '=', entity.machine).where('id', '=', entity.id);
        await query.execute();
        return found;
      }),
  };
}

/** One or two rows for each entity: grouping them is cheap. */
async function held(
  db: Kysely<Tables> | Transaction<Tables>,
  entity: EntityAddress | null,
): Promise<JournalHeld> {
  let query = db
    .selectFrom('journal')
    .select(({ fn }) => ['machine', 'id', fn.countAll<number | bigint | string>().as('entries')])
    .groupBy(['machine', 'id']);
  if (entity !== null) query = query.where('machine', '=', entity.machine).where('id', '=', entity.id);
  const groups = await query.execute();
  return {
    entities: groups.length,
    entries: groups.reduce((sum, { entries }) => sum + safeInteger(entries), 0),
  };
}
