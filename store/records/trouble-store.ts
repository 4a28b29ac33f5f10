/**
 * Current trouble: one row per entity, item and what is tried (D32).
 * Owns that the newest word wins and that `since` is the first failed try's; must not decide what trouble is.
 */
import type { TroubleOf } from '../../core/trouble.ts';
import type { FailedTry, TroubleKey, Troubles } from '../../ports/troubles.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { address } from '../engine/entity-address.ts';
import { isDeleted } from '../engine/tombstone.ts';
import { conversationId } from '../../core/ids.ts';

/** More at once are one trouble, seen by many. */
const OPEN_MAX = 1_000;

export function troubleStore(connection: StoreConnection): Troubles {
  return {
    failed: (failed) => note(connection, failed),
    over: (key, at) => end(connection, key, at),
    open: () => open(connection),
  };
}

const keyOf = ({ about, item, what }: TroubleKey) => ({
  machine: about.machine,
  id: about.id,
  item: columnText(item ?? ''),
  what: columnText(what),
});

async function note(connection: StoreConnection, failed: FailedTry): Promise<void> {
  const { about, cause, tries, nextAt, at } = failed;
  await connection.write(`note trouble of ${about.machine} "${about.id}"`, async (transaction) => {
    if (
      about.machine === 'conversation' &&
      (await isDeleted(connection, transaction, conversationId(about.id)))
    )
      return;
    const values = { cause: columnText(cause), tries, next_at: nextAt, at };
    await transaction
      .insertInto('trouble')
      .values({ ...keyOf(failed), ...values, since: at, is_over: 0 })
      .onConflict((conflict) =>
        conflict
          .columns(['machine', 'id', 'what', 'item'])
          .doUpdateSet((row) => ({
            ...values,
            is_over: 0,
            since: row.case().when('trouble.is_over', '=', 1).then(at).else(row.ref('trouble.since')).end(),
          }))
          .where('trouble.at', '<', at),
      )
      .execute();
  });
}

async function end(connection: StoreConnection, key: TroubleKey, at: number): Promise<void> {
  const { machine, id, item, what } = keyOf(key);
  await connection.write(`end trouble of ${machine} "${id}"`, (transaction) =>
    transaction
      .updateTable('trouble')
      .set({ is_over: 1, at })
      .where('machine', '=', machine)
      .where('id', '=', id)
      .where('what', '=', what)
      .where('item', '=', item)
      .where('at', '<=', at)
      .execute(),
  );
}

async function open(connection: StoreConnection): Promise<readonly TroubleOf[]> {
  const rows = await connection.read('read current trouble', (db) =>
    db
      .selectFrom('trouble')
      .selectAll()
      .where('is_over', '=', 0)
      .orderBy('at', 'desc')
      .limit(OPEN_MAX)
      .execute(),
  );
  return rows.map((row) => ({
    about: address(row),
    item: row.item === '' ? null : row.item,
    what: row.what,
    cause: row.cause,
    since: safeInteger(row.since),
    tries: safeInteger(row.tries),
    nextAt: safeInteger(row.next_at),
  }));
}
