/**
 * Those who wait for a slot, in the order in which they came (D29).
 * Owns the rows; whose turn it is, is decided by core/placement/line.ts. Every write is inside a transaction that holds
 * the placement lock.
 */
import type { Kysely, Transaction } from 'kysely';
import { userId, type RunId } from '../../core/ids.ts';
import { LINE_AGE_MAX_MS } from '../../core/limits.ts';
import type { WaiterHost } from '../../core/placement/host-seats.ts';
import type { Waiter } from '../../core/placement/line.ts';
import { safeInteger } from '../sql/column-value.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

const LINE = prepareQuery((db, { since }: { readonly since: number }) =>
  db
    .selectFrom('slot_line')
    .select(['waiter_id', 'machine', 'user_id', 'host'])
    .where('asked_at', '>', since)
    .orderBy('position')
    .compile(),
);

/** Without those who have not looked for so long that they are not there any more. */
export async function slotLine(db: Kysely<Tables>, now: number): Promise<readonly Waiter[]> {
  const rows = await LINE.all(db, { since: now - LINE_AGE_MAX_MS });
  return rows.map((row) => ({
    waiterId: row.waiter_id,
    machine: row.machine,
    userId: userId(row.user_id),
    ...(row.host === null ? {} : { host: JSON.parse(row.host) as WaiterHost }),
  }));
}

interface Joining {
  readonly waiter_id: string;
  readonly machine: Waiter['machine'];
  readonly user_id: string;
  readonly asked_at: number;
  readonly host: string | null;
}

const JOIN = prepareQuery((db, row: Joining) =>
  db
    .insertInto('slot_line')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('waiter_id').doUpdateSet(({ ref }) => ({ asked_at: ref('excluded.asked_at') })),
    )
    .compile(),
);

/** At the end; who stands there already keeps its place. */
export async function joinLine(
  transaction: Transaction<Tables>,
  { waiterId, machine, userId: user, host }: Waiter,
  now: number,
): Promise<void> {
  await JOIN.all(transaction, {
    waiter_id: waiterId,
    machine,
    user_id: user,
    asked_at: now,
    host: host === undefined ? null : JSON.stringify(host),
  });
}

const LEAVE = prepareQuery((db, { id }: { readonly id: string }) =>
  db.deleteFrom('slot_line').where('waiter_id', '=', id).returning('waiter_id').compile(),
);

/** Whether it stood there. */
export async function leaveLine(transaction: Transaction<Tables>, id: Waiter['waiterId']): Promise<boolean> {
  return (await LEAVE.first(transaction, { id })) !== undefined;
}

const STARTS = prepareQuery((db, { since }: { readonly since: number }) =>
  db
    .selectFrom('slot_line')
    .innerJoin('start_task', 'start_task.conversation_id', 'slot_line.waiter_id')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('asked_at', '>', since)
    .compile(),
);

/** Starts over the API that stand in it. */
export async function countWaitingStarts(db: Kysely<Tables>, now: number): Promise<number> {
  const row = await STARTS.first(db, { since: now - LINE_AGE_MAX_MS });
  return safeInteger(row?.count ?? 0);
}

const OF_RUN = prepareQuery((db, { run }: { readonly run: string }) =>
  db
    .selectFrom('slot')
    .innerJoin('attachment', 'attachment.sandbox_id', 'slot.sandbox_id')
    .innerJoin('conversation', 'conversation.conversation_id', 'attachment.conversation_id')
    .select((from) => from.fn.count('slot.sandbox_id').distinct().as('count'))
    .where('conversation.run_id', '=', run)
    .where(isAttached)
    .compile(),
);

/** Slots whose sandbox has a conversation of the run in it. */
export async function slotsOfRun(transaction: Transaction<Tables>, run: RunId): Promise<number> {
  const row = await OF_RUN.first(transaction, { run });
  return safeInteger(row?.count ?? 0);
}

const COUNTS = prepareQuery((db, { least }: { readonly least: number }) =>
  db
    .selectFrom('slot')
    .select(({ fn }) => ['user_id', fn.countAll().as('count')])
    .groupBy('user_id')
    .having(({ fn }) => fn.countAll(), '>=', least)
    .compile(),
);

/** Of each user that has any. */
export async function slotsByUser(db: Kysely<Tables>): Promise<ReadonlyMap<string, number>> {
  const rows = await COUNTS.all(db, { least: 1 });
  return new Map(rows.map((row) => [row.user_id, safeInteger(row.count)]));
}
