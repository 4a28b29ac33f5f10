/**
 * Start requests as they were accepted.
 * Owns that a conversation, and a user's idempotency key, has one task at most, and that a task without its place is
 * never kept where none may wait (D29).
 */
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { UserId } from '../../core/ids.ts';
import type { PageRequest } from '../../ports/record-search.ts';
import type {
  AcceptOutcome,
  StartAdmission,
  StartTask,
  StartTaskFilter,
  StartTaskStore,
} from '../../ports/start-tasks.ts';
import { columnTextOrNull, safeInteger } from '../sql/column-value.ts';
import { holdLock, type StoreConnection } from '../sql/connection.ts';
import { behind, ordered } from '../sql/keyset.ts';
import { startLeases } from './start-leases.ts';
import { ownedById } from './owned-by-id.ts';
import { placeConversation } from '../placement/placement-store.ts';
import { countWaitingStarts, joinLine } from '../placement/slot-line.ts';
import type { Tables } from '../schema/tables.ts';
import { isDeleted } from '../engine/tombstone.ts';

export function startTaskStore(connection: StoreConnection): StartTaskStore {
  return {
    ...startLeases(connection),
    accept: (task, admission, leasedUntil) =>
      connection.write(`accept the start "${task.taskId}"`, async (transaction) => {
        await holdLock(connection, transaction, 'placement');
        return accept(connection, transaction, { task, admission, leasedUntil });
      }),
    byIdempotencyKey: (userId, key) =>
      connection.read('read a start by its idempotency key', (db) => byKey(db, userId, key)),
    byIds: ownedById((work) => connection.read('read starts', work), {
      select: (ids) => sql<{ readonly body: string }>`select body from start_task where task_id in (${ids})`,
      found: ({ body }) => JSON.parse(body) as StartTask,
      keyOf: ({ taskId, userId }) => ({ id: taskId, userId }),
    }),
    search: (userId, filter, page) =>
      connection.read('search the starts', (db) => search(db, { userId, filter, page })),
    count: (userId, filter) =>
      connection.read('count the starts', async (db) => {
        const own = sql.join(conditions(userId, filter), sql` and `);
        const { rows } = await sql<{ readonly count: number | bigint | string }>`select count(*) as count
          from start_task where ${own}`.execute(db);
        return safeInteger(rows[0]?.count ?? 0);
      }),
  };
}

interface Asked {
  readonly task: StartTask;
  readonly admission: StartAdmission;
  readonly leasedUntil: number;
}

async function accept(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  { task, admission, leasedUntil }: Asked,
): Promise<AcceptOutcome> {
  if (await isDeleted(connection, transaction, task.conversationId)) return { kind: 'in_use' };
  if (task.idempotencyKey !== null) {
    const kept = await byKey(transaction, task.userId, task.idempotencyKey);
    if (kept !== null) return { kind: 'kept', task: kept };
  }
  const taken = await ownerOf(transaction, task);
  if (taken === null) return { kind: 'in_use' };
  if (taken !== 'free') return { kind: 'kept', task: taken };
  const refusal = await admit(connection, transaction, task, admission);
  if (refusal !== null) return refusal;
  await transaction
    .insertInto('start_task')
    .values({
      task_id: task.taskId,
      user_id: task.userId,
      conversation_id: task.conversationId,
      created_at: task.createdAt,
      idempotency_key: columnTextOrNull(task.idempotencyKey),
      delivered: 0,
      body: JSON.stringify(task),
      stage: 'accepted',
      leased_until: leasedUntil,
    })
    .execute();
  return { kind: 'kept', task };
}

/** Null when it is let in. A refusal has changed nothing. */
async function admit(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  task: StartTask,
  admission: StartAdmission,
): Promise<Extract<AcceptOutcome, { readonly kind: 'full' | 'warm_lost' }> | null> {
  if (admission.kind === 'queued') {
    const { conversationId: waiterId, userId, createdAt: now } = task;
    const current = await countWaitingStarts(transaction, now);
    if (current >= admission.waitingMax) return { kind: 'full', limit: admission.waitingMax, current };
    // It stands in the line from its acceptance on: who came first is placed first, however long its machine takes.
    await joinLine(transaction, { waiterId, machine: 'conversation', userId, host: task.spec.host }, now);
    return null;
  }
  const outcome = await placeConversation(connection, transaction, admission.place);
  if (outcome.kind === 'warm_lost') return outcome;
  const slots = outcome.kind === 'refused' ? outcome.refusal.slots : undefined;
  return slots === undefined ? null : { kind: 'full', limit: slots.limit, current: slots.current };
}

/** The task of that conversation, null when it is another user's, `free` when there is no such conversation. */
async function ownerOf(
  transaction: Transaction<Tables>,
  { conversationId, userId }: StartTask,
): Promise<StartTask | null | 'free'> {
  const task = await transaction
    .selectFrom('start_task')
    .select(['user_id', 'body'])
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst();
  if (task !== undefined) return task.user_id === userId ? (JSON.parse(task.body) as StartTask) : null;
  const record = await transaction
    .selectFrom('conversation')
    .select('conversation_id')
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst();
  return record === undefined ? 'free' : null;
}

async function byKey(db: Kysely<Tables>, userId: UserId, key: string): Promise<StartTask | null> {
  const row = await db
    .selectFrom('start_task')
    .select('body')
    .where('user_id', '=', userId)
    .where('idempotency_key', '=', columnTextOrNull(key))
    .executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.body) as StartTask);
}

function conditions(
  userId: UserId,
  { conversationId, createdFrom }: StartTaskFilter,
): readonly RawBuilder<unknown>[] {
  return [
    sql`user_id = ${userId}`,
    ...(conversationId === undefined ? [] : [sql`conversation_id = ${conversationId}`]),
    ...(createdFrom === undefined ? [] : [sql`created_at >= ${createdFrom}`]),
  ];
}

const BOUNDS = { kind: 'number', value: sql.ref('created_at'), id: sql.ref('task_id') } as const;

async function search(
  db: Kysely<Tables>,
  {
    userId,
    filter,
    page,
  }: { readonly userId: UserId; readonly filter: StartTaskFilter; readonly page: PageRequest },
): Promise<readonly StartTask[]> {
  const wanted = sql.join([...conditions(userId, filter), ...behind(BOUNDS, page)], sql` and `);
  const { rows } = await sql<{ readonly body: string }>`select body from start_task
    where ${wanted} ${ordered(BOUNDS, page)} limit ${page.limit}`.execute(db);
  return tasks(rows);
}

function tasks(rows: readonly { readonly body: string }[]): readonly StartTask[] {
  return rows.map(({ body }) => JSON.parse(body) as StartTask);
}
