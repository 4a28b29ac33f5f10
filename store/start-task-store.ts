/**
 * Start requests as they were accepted.
 * Owns that a conversation, and a user's idempotency key, has one task at most.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { UserId } from '../core/ids.ts';
import type { PageRequest } from '../ports/record-search.ts';
import type { StartTask, StartTaskFilter, StartTaskStore } from '../ports/start-tasks.ts';
import { columnTextOrNull, safeInteger } from './column-value.ts';
import { fitting } from './keyset.ts';
import type { StoreConnection } from './connection.ts';
import type { Tables } from './tables.ts';
import { isDeleted } from './tombstone.ts';

export function startTaskStore(connection: StoreConnection): StartTaskStore {
  return {
    accept: (task) =>
      connection.write(`accept the start "${task.taskId}"`, (transaction) =>
        accept(connection, transaction, task),
      ),
    byIdempotencyKey: (userId, key) =>
      connection.read('read a start by its idempotency key', (db) => byKey(db, userId, key)),
    async markDelivered(taskId) {
      await connection.write(`note the delivery of the start "${taskId}"`, (transaction) =>
        transaction.updateTable('start_task').set({ delivered: 1 }).where('task_id', '=', taskId).execute(),
      );
    },
    async remove(taskId) {
      await connection.write(`remove the start "${taskId}"`, (transaction) =>
        transaction.deleteFrom('start_task').where('task_id', '=', taskId).execute(),
      );
    },
    undelivered: () =>
      connection.read('list the starts to deliver', async (db) =>
        tasks(
          await db
            .selectFrom('start_task')
            .select('body')
            .where('delivered', '=', 0)
            .orderBy('created_at')
            .execute(),
        ),
      ),
    byIds: (userId, ids) => connection.read('read starts', (db) => byIds(db, userId, ids)),
    search: (userId, filter, page) =>
      connection.read('search the starts', (db) => search(db, { userId, filter, page })),
    count: (userId, filter) =>
      connection.read('count the starts', async (db) => {
        const row = await filtered(db, userId, filter)
          .select(({ fn }) => fn.countAll().as('count'))
          .executeTakeFirst();
        return safeInteger(row?.count ?? 0);
      }),
  };
}

async function accept(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  task: StartTask,
): Promise<StartTask | null> {
  if (await isDeleted(connection, transaction, task.conversationId)) return null;
  if (task.idempotencyKey !== null) {
    const kept = await byKey(transaction, task.userId, task.idempotencyKey);
    if (kept !== null) return kept;
  }
  const taken = await ownerOf(transaction, task);
  if (taken !== 'free') return taken;
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
    })
    .execute();
  return task;
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

async function byIds(
  db: Kysely<Tables>,
  userId: UserId,
  ids: readonly string[],
): Promise<readonly (StartTask | null)[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('start_task')
    .select(['task_id', 'body'])
    .where('task_id', 'in', [...new Set(ids)])
    .where('user_id', '=', userId)
    .execute();
  const found = new Map(rows.map((row) => [row.task_id, JSON.parse(row.body) as StartTask]));
  return ids.map((id) => found.get(id) ?? null);
}

function filtered(db: Kysely<Tables>, userId: UserId, filter: StartTaskFilter) {
  const { conversationId, createdFrom } = filter;
  return db
    .selectFrom('start_task')
    .where('user_id', '=', userId)
    .$if(conversationId !== undefined, (query) => query.where('conversation_id', '=', conversationId ?? ''))
    .$if(createdFrom !== undefined, (query) => query.where('created_at', '>=', createdFrom ?? 0));
}

async function search(
  db: Kysely<Tables>,
  {
    userId,
    filter,
    page,
  }: { readonly userId: UserId; readonly filter: StartTaskFilter; readonly page: PageRequest },
): Promise<readonly StartTask[]> {
  const { limit, descending } = page;
  const after = fitting(page.after, 'number');
  const direction = descending ? 'desc' : 'asc';
  const compare = descending ? sql`<` : sql`>`;
  return tasks(
    await filtered(db, userId, filter)
      .select('body')
      .$if(after !== null, (query) =>
        query.where(
          sql<boolean>`(created_at, task_id) ${compare} (${after?.value ?? 0}, ${after?.id ?? ''})`,
        ),
      )
      .orderBy('created_at', direction)
      .orderBy('task_id', direction)
      .limit(limit)
      .execute(),
  );
}

function tasks(rows: readonly { readonly body: string }[]): readonly StartTask[] {
  return rows.map(({ body }) => JSON.parse(body) as StartTask);
}
