/**
 * Plans by run, immutable once written.
 * Owns the comparison by hash; must not read what a plan says.
 */
import type { RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { PlanStore } from '../../ports/record-store.ts';
import type { StoreConnection } from '../sql/connection.ts';

export function planStore(connection: StoreConnection): PlanStore {
  return {
    putPlan: (runId, plan) => putPlan(connection, runId, plan),
    async plan(runId) {
      const row = await connection.read(`read the plan of the run "${runId}"`, (db) =>
        db.selectFrom('plan').select('body').where('run_id', '=', runId).executeTakeFirst(),
      );
      return row === undefined ? null : (JSON.parse(row.body) as Plan);
    },
  };
}

function putPlan(connection: StoreConnection, runId: RunId, plan: Plan): Promise<void> {
  return connection.write(`store the plan of the run "${runId}"`, async (transaction) => {
    await transaction
      .insertInto('plan')
      .values({ run_id: runId, hash: plan.hash, body: JSON.stringify(plan) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const stored = await transaction
      .selectFrom('plan')
      .select('hash')
      .where('run_id', '=', runId)
      .executeTakeFirst();
    if (stored?.hash === plan.hash) return;
    throw new ParleyError('run_exists', `Cannot store the plan of the run "${runId}": it has another plan`, {
      details: { runId, hash: stored?.hash ?? null },
    });
  });
}
