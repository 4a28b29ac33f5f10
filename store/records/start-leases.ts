/**
 * Starts that their machines may not have yet, and whose it is to bring them on.
 * Owns that one of several processes has a start at a time, and that what is sealed is never taken back, nor what is
 * taken back sealed.
 */
import type {
  StartLease,
  StartStage,
  StartTask,
  StartTaskStore,
  LeasedStart,
} from '../../ports/start-tasks.ts';
import type { StoreConnection } from '../sql/connection.ts';

type StartLeases = Pick<
  StartTaskStore,
  | 'stageOf'
  | 'markSealed'
  | 'abandon'
  | 'markDelivered'
  | 'returnLease'
  | 'takeUndelivered'
  | 'remove'
  | 'undelivered'
>;

export function startLeases(connection: StoreConnection): StartLeases {
  return {
    stageOf: (taskId) =>
      connection.read(`read how far the start "${taskId}" has come`, async (db) => {
        const row = await db
          .selectFrom('start_task')
          .select(['stage', 'delivered'])
          .where('task_id', '=', taskId)
          .executeTakeFirst();
        if (row === undefined) return null;
        return Number(row.delivered) === 1 ? 'sealed' : (row.stage as StartStage);
      }),
    markSealed: (taskId) => move(connection, taskId, { from: 'accepted', to: 'sealed' }),
    abandon: (taskId) => move(connection, taskId, { from: 'accepted', to: 'abandoned' }),
    async markDelivered(taskId) {
      await connection.write(`note the delivery of the start "${taskId}"`, (transaction) =>
        transaction.updateTable('start_task').set({ delivered: 1 }).where('task_id', '=', taskId).execute(),
      );
    },
    async returnLease(taskId, until) {
      await connection.write(`give the start "${taskId}" back`, (transaction) =>
        transaction
          .updateTable('start_task')
          .set({ leased_until: until })
          .where('task_id', '=', taskId)
          .where('delivered', '=', 0)
          .execute(),
      );
    },
    takeUndelivered: (lease) => takeUndelivered(connection, lease),
    async remove(taskId) {
      await connection.write(`remove the start "${taskId}"`, async (transaction) => {
        const removed = await transaction
          .deleteFrom('start_task')
          .where('task_id', '=', taskId)
          .returning('conversation_id')
          .executeTakeFirst();
        if (removed === undefined) return;
        // Who has left is never placed again, and this one was never there: its repeat may have the same id.
        await transaction
          .deleteFrom('attachment')
          .where('conversation_id', '=', removed.conversation_id)
          .where('detached', '=', 1)
          .execute();
      });
    },
    undelivered: () =>
      connection.read('list the starts to deliver', async (db) => {
        const rows = await db
          .selectFrom('start_task')
          .select('body')
          .where('delivered', '=', 0)
          .orderBy('created_at')
          .execute();
        return rows.map(({ body }) => JSON.parse(body) as StartTask);
      }),
  };
}

interface Move {
  readonly from: StartStage;
  readonly to: StartStage;
}

/** True when it is there now, also since before. One row, one statement: of two that part it, the first wins. */
function move(connection: StoreConnection, taskId: string, { from, to }: Move): Promise<boolean> {
  return connection.write(`note that the start "${taskId}" is ${to}`, async (transaction) => {
    const moved = await transaction
      .updateTable('start_task')
      .set({ stage: to })
      .where('task_id', '=', taskId)
      .where('stage', 'in', [from, to])
      .returning('task_id')
      .execute();
    return moved.length > 0;
  });
}

function takeUndelivered(
  connection: StoreConnection,
  { now, until, limit }: StartLease,
): Promise<readonly LeasedStart[]> {
  return connection.write('take starts to deliver', async (transaction) => {
    const free = transaction
      .selectFrom('start_task')
      .select('task_id')
      .where('delivered', '=', 0)
      .$if(now !== null, (query) => query.where('leased_until', '<=', now ?? 0))
      .orderBy('created_at')
      .$if(limit !== null, (query) => query.limit(limit ?? 0))
      // What another process is about to take is its own; a write of SQLite is alone.
      .$if(connection.dialect === 'postgres', (query) => query.forUpdate().skipLocked());
    const rows = await transaction
      .updateTable('start_task')
      .set({ leased_until: until })
      .where('task_id', 'in', free)
      .returning(['body', 'stage'])
      .execute();
    return rows
      .map(({ body, stage }) => ({ task: JSON.parse(body) as StartTask, stage: stage as StartStage }))
      .sort((one, other) => one.task.createdAt - other.task.createdAt);
  });
}
