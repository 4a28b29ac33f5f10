/**
 * The journal of a driver: one row for each batch that the driver's own record may not hold yet.
 * Owns who was first; entities and rows of the batch are written by whoever calls, in the same transaction.
 */
import type { Insertable, Kysely, Transaction } from 'kysely';
import type { EntityAddress } from '../../core/ids.ts';
import type { Json } from '../../ports/engine-store.ts';
import type { JournalEntry, JournalVerdict } from '../../ports/journal.ts';
import { safeInteger } from '../sql/column-value.ts';
import { prepareQuery, prepareRows } from '../sql/prepared-query.ts';
import type { JournalTable, Tables } from '../schema/tables.ts';

type Key = Pick<JournalTable, 'machine' | 'id'>;

const ENTRIES = prepareQuery((db, { machine, id }: Key) =>
  db
    .selectFrom('journal')
    .select(['number', 'inputs'])
    .where('machine', '=', machine)
    .where('id', '=', id)
    .compile(),
);

const ADD = prepareRows((db, rows: readonly Insertable<JournalTable>[]) =>
  db.insertInto('journal').values(rows).compile(),
);

const FORGET = prepareQuery((db, { machine, id, settled }: Key & { readonly settled: number }) =>
  db
    .deleteFrom('journal')
    .where('machine', '=', machine)
    .where('id', '=', id)
    .where('number', '<=', settled)
    .compile(),
);

export async function latestEntry(db: Kysely<Tables>, { machine, id }: EntityAddress): Promise<number> {
  const rows = await ENTRIES.all(db, { machine, id });
  return Math.max(0, ...rows.map(({ number }) => safeInteger(number)));
}

/** Of two executions that write the same number at once, PostgreSQL refuses the later one, which then tries again. */
export async function writeEntry(
  transaction: Transaction<Tables>,
  { entity: { machine, id }, number, settled, inputs }: JournalEntry,
): Promise<JournalVerdict> {
  const text = JSON.stringify(inputs);
  const entries = (await ENTRIES.all(transaction, { machine, id })).map((row) => ({
    number: safeInteger(row.number),
    inputs: row.inputs,
  }));
  const same = entries.find((entry) => entry.number === number);
  if (same?.inputs === text) return { kind: 'applied' };
  if (same !== undefined) return { kind: 'different', inputs: JSON.parse(same.inputs) as Json };
  if (entries.some((entry) => entry.number > number)) return { kind: 'overtaken' };
  if (entries.some((entry) => entry.number <= settled))
    await FORGET.all(transaction, { machine, id, settled });
  await ADD.execute(transaction, [{ machine, id, number, inputs: text }]);
  return { kind: 'applied' };
}
