/**
 * States of entities as they lie in the database: a row each, and rows of their own for the elements of long lists.
 * Owns that a head and its parts are always of one commit; what is in a state stays opaque text.
 */
import { sql, type Insertable, type Kysely, type Transaction } from 'kysely';
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { EntityWrite, Json, StoredEntity } from '../../ports/engine-store.ts';
import { flag, safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import { prepareQuery, prepareRows } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

type Key = Pick<Tables['entity'], 'machine' | 'id'>;

/** The row itself has no list and stands first in no order; its parts follow, in no order either. */
interface StateRow {
  readonly list: string | null;
  readonly position: number | bigint | string | null;
  readonly state: string;
  readonly deadline: number | bigint | string | null;
  readonly done: number | null;
  readonly lists: string | null;
}

/** One statement, so that a reader beside the writer never sees a head and parts of two commits. */
const STATE = prepareQuery((db, { machine, id }: Key) =>
  sql<StateRow>`select null as list, cast(null as bigint) as position, state, deadline, done, lists
    from entity where machine = ${machine} and id = ${id}
    union all select list, position, state, null, null, null
    from entity_part where machine = ${machine} and id = ${id}`.compile(db),
);

export async function loadState(db: Kysely<Tables>, address: EntityAddress): Promise<StoredEntity | null> {
  const rows = await STATE.all(db, { machine: address.machine, id: address.id });
  const row = rows.find(({ list }) => list === null);
  if (row === undefined) return null;
  const entity = {
    address,
    state: JSON.parse(row.state) as Json,
    deadline: safeIntegerOrNull(row.deadline),
    done: row.done === 1,
  };
  return row.lists === null ? entity : { ...entity, lists: listsOf(address, row.lists, rows) };
}

/** @throws ParleyError internal when an element is not there: a state with a gap is never handed out */
function listsOf(
  address: EntityAddress,
  lengths: string,
  rows: readonly StateRow[],
): Readonly<Record<string, readonly Json[]>> {
  const texts = new Map<string, Map<number, string>>();
  for (const { list, position, state } of rows) {
    if (list === null || position === null) continue;
    const known = texts.get(list) ?? new Map<number, string>();
    texts.set(list, known.set(safeInteger(position), state));
  }
  const lists = Object.entries(JSON.parse(lengths) as Readonly<Record<string, number>>).map(
    ([name, length]) => [
      name,
      Array.from({ length }, (_, position) => {
        const text = texts.get(name)?.get(position);
        if (text === undefined) throw missing(address, name, position);
        return JSON.parse(text) as Json;
      }),
    ],
  );
  return Object.fromEntries(lists) as Readonly<Record<string, readonly Json[]>>;
}

function missing({ machine, id }: EntityAddress, list: string, position: number): ParleyError {
  const message = `Cannot load the ${machine} "${id}": element ${position} of its list "${list}" is missing`;
  return new ParleyError('internal', message);
}

/** Writes what has changed; of an entity that comes several times, one after the other. */
export async function putStates(
  transaction: Transaction<Tables>,
  writes: readonly EntityWrite[],
): Promise<void> {
  for (const round of roundsOf(writes)) {
    await PUT_ENTITIES.execute(transaction, round.map(rowOf));
    await putParts(transaction, round);
  }
}

/** One statement may not touch a row twice. */
function roundsOf(writes: readonly EntityWrite[]): readonly (readonly EntityWrite[])[] {
  const counts = new Map<string, number>();
  const rounds: EntityWrite[][] = [];
  for (const write of writes) {
    const key = addressKey(write.address);
    const round = counts.get(key) ?? 0;
    counts.set(key, round + 1);
    rounds[round] = [...(rounds[round] ?? []), write];
  }
  return rounds;
}

const PUT_ENTITIES = prepareRows((db, rows: readonly Insertable<Tables['entity']>[]) =>
  db
    .insertInto('entity')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['machine', 'id']).doUpdateSet((row) => ({
        deadline: row.ref('excluded.deadline'),
        done: row.ref('excluded.done'),
        state: row.ref('excluded.state'),
        lists: row.ref('excluded.lists'),
      })),
    )
    .compile(),
);

function rowOf({ address, state, deadline, done, parts }: EntityWrite) {
  return { ...address, deadline, done: flag(done), state: JSON.stringify(state), lists: lengthsOf(parts) };
}

function lengthsOf(parts: EntityWrite['parts']): string | null {
  if (parts === undefined) return null;
  const lengths = Object.entries(parts.lists).map(([name, { length }]) => [name, length]);
  return JSON.stringify(Object.fromEntries(lengths));
}

const REMOVE_PARTS = prepareRows((db, keys: readonly Key[]) => {
  const values = keys.map(({ machine, id }) => sql`(${machine}, ${id})`);
  return sql`delete from entity_part where (machine, id) in (values ${sql.join(values)})`.compile(db);
});

type ListEnd = Pick<Tables['entity_part'], 'machine' | 'id' | 'list'> & { readonly length: number };

const REMOVE_END = prepareQuery((db, { machine, id, list, length }: ListEnd) =>
  db
    .deleteFrom('entity_part')
    .where('machine', '=', machine)
    .where('id', '=', id)
    .where('list', '=', list)
    .where('position', '>=', length)
    .compile(),
);

const PUT_PARTS = prepareRows((db, rows: readonly PartRow[]) =>
  db
    .insertInto('entity_part')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['machine', 'id', 'list', 'position'])
        .doUpdateSet((row) => ({ state: row.ref('excluded.state') })),
    )
    .compile(),
);

type PartRow = Omit<Tables['entity_part'], 'position'> & { readonly position: number };

async function putParts(transaction: Transaction<Tables>, writes: readonly EntityWrite[]): Promise<void> {
  const anew = writes.filter(({ parts }) => parts?.anew !== false);
  await REMOVE_PARTS.execute(
    transaction,
    anew.map(({ address: { machine, id } }) => ({ machine, id })),
  );
  const rows: PartRow[] = [];
  for (const { address, parts } of writes) {
    for (const [list, { length, shrinks, changed }] of Object.entries(parts?.lists ?? {})) {
      if (shrinks) await REMOVE_END.all(transaction, { ...address, list, length });
      for (const { position, state } of changed)
        rows.push({ ...address, list, position, state: JSON.stringify(state) });
    }
  }
  await PUT_PARTS.execute(transaction, rows);
}
