/**
 * The pool of a run in the store: to which pool a sandbox belongs, and which conversations take its places.
 * Owns those columns; core/placement/place-in-pool.ts decides the placement. Everything but the projection of items
 * happens inside a transaction that holds the placement lock.
 */
import { sql, type Transaction } from 'kysely';
import type { ConversationId, RunId, SandboxId } from '../../core/ids.ts';
import { POOL_STATUSES, type PoolPlacement } from '../../core/placement/place-in-pool.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { PoolToFill } from '../../ports/placement-store.ts';
import { safeInteger } from '../sql/column-value.ts';
import { prepareQuery, prepareRows } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

const JOIN = prepareQuery((db, { id, pool }: { readonly id: string; readonly pool: string }) =>
  db.updateTable('sandbox').set({ pool }).where('sandbox_id', '=', id).compile(),
);

/** From here on only conversations of the run are placed there. */
export async function joinPool(transaction: Transaction<Tables>, id: SandboxId, pool: RunId): Promise<void> {
  await JOIN.all(transaction, { id, pool });
}

const COUNT_PLACED = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .updateTable('sandbox')
    .set({ pool_placed: sql<number>`pool_placed + 1` })
    .where('sandbox_id', '=', id)
    .compile(),
);

interface Affine {
  readonly id: string;
  readonly conversation: string;
  readonly affinity: string | null;
}

/** The first conversation in an empty sandbox sets its affinity. */
const TAKE_FOR = prepareQuery((db, { id, conversation, affinity }: Affine) =>
  db
    .updateTable('sandbox')
    .set({ pool_affinity: affinity })
    .where('sandbox_id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('attachment')
            .select('attachment.conversation_id')
            .whereRef('attachment.sandbox_id', '=', 'sandbox.sandbox_id')
            .where('attachment.conversation_id', '!=', conversation)
            .where('attachment.pool_place', '=', 1)
            .where(isAttached),
        ),
      ),
    )
    .compile(),
);

/** Counts a conversation that was attached to a sandbox of the pool. */
export async function countInPool(
  transaction: Transaction<Tables>,
  placed: { readonly id: SandboxId; readonly conversation: ConversationId; readonly affinity: string | null },
): Promise<void> {
  await COUNT_PLACED.all(transaction, { id: placed.id });
  await TAKE_FOR.all(transaction, placed);
}

const ITEM = prepareQuery((db, { pool, key }: { readonly pool: string; readonly key: string }) =>
  db.selectFrom('run_item').select('body').where('run_id', '=', pool).where('key', '=', key).compile(),
);

/** Whether its attempt is over already: a late placement would keep a place of the pool without use. */
export async function hasLeftPool(
  transaction: Transaction<Tables>,
  { poolId, key }: Pick<PoolPlacement, 'poolId' | 'key'>,
  id: ConversationId,
): Promise<boolean> {
  const item = await ITEM.first(transaction, { pool: poolId, key });
  if (item === undefined) return false;
  const { left = [] } = JSON.parse(item.body) as RunItemRow;
  return left.includes(id);
}

const GIVE_BACK = prepareRows((db, keys: readonly { readonly id: string }[]) =>
  db
    .updateTable('attachment')
    .set({ pool_place: 0 })
    .where('pool_place', '=', 1)
    .where(
      'conversation_id',
      'in',
      keys.map(({ id }) => id),
    )
    .compile(),
);

/** The commit that ends an attempt also frees the place of its conversation. */
export async function giveBackPlaces(
  transaction: Transaction<Tables>,
  items: readonly RunItemRow[],
): Promise<void> {
  const left = new Set(items.flatMap((item) => item.left ?? []));
  await GIVE_BACK.execute(
    transaction,
    [...left].map((id) => ({ id })),
  );
}

const IN_USE = prepareQuery((db, { id, pool }: { readonly id: string; readonly pool: string }) =>
  db
    .selectFrom('attachment')
    .innerJoin('sandbox', 'sandbox.sandbox_id', 'attachment.sandbox_id')
    .select('attachment.conversation_id')
    .where('attachment.sandbox_id', '=', id)
    .where('sandbox.pool', '=', pool)
    .where('attachment.pool_place', '=', 1)
    .where(isAttached)
    .limit(1)
    .compile(),
);

/** Whether a conversation takes a place in it, if it belongs to this pool at all. */
export async function isPlaceTaken(
  transaction: Transaction<Tables>,
  id: SandboxId,
  pool: RunId,
): Promise<boolean> {
  return (await IN_USE.first(transaction, { id, pool })) !== undefined;
}

const LIVING = prepareQuery((db, { pool }: { readonly pool: string }) =>
  db
    .selectFrom('sandbox')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('pool', '=', pool)
    .where('status', 'in', POOL_STATUSES)
    .where('draining', '=', 0)
    .compile(),
);

/** How many sandboxes of the pool live when the pool has its size already; null while there is room for one more. */
export async function isPoolGrown(
  transaction: Transaction<Tables>,
  { poolId, size }: PoolToFill,
): Promise<number | null> {
  const row = await LIVING.first(transaction, { pool: poolId });
  const living = safeInteger(row?.count ?? 0);
  return living >= size ? living : null;
}
