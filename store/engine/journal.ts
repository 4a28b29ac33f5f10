/**
 * The journal of a driver: one row for each batch that the driver's own record may not hold yet.
 * Owns which execution was first; the caller writes entities and rows of the batch, in the same transaction.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { EntityAddress } from '../../core/ids.ts';
import type { Json } from '../../ports/engine-store.ts';
import type { JournalEntry, JournalVerdict, JournalHeld, JournalUpkeep } from '../../ports/journal.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

type Key = Pick<Tables['journal'], 'machine' | 'id'>;

const ENTRIES = prepareQuery((db, { machine, id }: Key) =>
  db
    .selectFrom('journal')
    .select(['number', 'inputs'])
    .where('machine', '=', machine)
    .where('id', '=', id)
    .compile(),
);

type Entry = Key & { readonly number: number; readonly inputs: string };

/** Only as the latest one: a returned number means that it was written. */
const ADD = prepareQuery((db, { machine, id, number, inputs }: Entry) =>
  sql<Pick<Tables['journal'], 'number'>>`insert into journal (machine, id, number, inputs)
    select ${machine}, ${id}, cast(${number} as bigint), ${inputs}
    where not exists (select 1 from journal where machine = ${machine} and id = ${id} and number >= ${number})
    returning number`.compile(db),
);

/** The same in place of an entry that is durable with the driver, so that the journal does not grow. */
const REPLACE = prepareQuery((db, entry: Entry & { readonly settled: number }) => {
  const { machine, id, number, inputs, settled } = entry;
  return sql<Pick<Tables['journal'], 'number'>>`update journal set number = ${number}, inputs = ${inputs}
    where machine = ${machine} and id = ${id}
    and number = (select min(number) from journal where machine = ${machine} and id = ${id})
    and number <= ${settled}
    and not exists (select 1 from journal where machine = ${machine} and id = ${id} and number >= ${number})
    returning number`.compile(db);
});

export async function latestEntry(db: Kysely<Tables>, { machine, id }: EntityAddress): Promise<number> {
  const rows = await ENTRIES.all(db, { machine, id });
  return Math.max(0, ...rows.map(({ number }) => safeInteger(number)));
}

/**
 * False: this number or a later one was there before.
 * Of two executions that write the same number at once, PostgreSQL refuses the later one, which then tries again.
 */
export async function addEntry(
  transaction: Transaction<Tables>,
  { entity: { machine, id }, number, settled, inputs }: JournalEntry,
): Promise<boolean> {
  const entry = { machine, id, number, inputs: JSON.stringify(inputs) };
  if (settled > 0 && (await REPLACE.first(transaction, { ...entry, settled })) !== undefined) return true;
  return (await ADD.first(transaction, entry)) !== undefined;
}

/** Of an entry that was not added. */
export async function verdictOn(
  transaction: Transaction<Tables>,
  { entity: { machine, id }, number, inputs }: JournalEntry,
): Promise<JournalVerdict> {
  const entries = await ENTRIES.all(transaction, { machine, id });
  const same = entries.find((one) => safeInteger(one.number) === number);
  if (same === undefined) return { kind: 'overtaken' };
  if (same.inputs === JSON.stringify(inputs)) return { kind: 'applied' };
  return { kind: 'different', inputs: JSON.parse(same.inputs) as Json };
}

/** The operator's manual actions on the journal. */
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
