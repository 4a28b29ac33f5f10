/**
 * A batch on Temporal, larger than a worker's defaults in each way: more conversations at once than it has slots of any
 * kind.
 */
import { expect, it } from 'vitest';
import { planOf } from '../../bench/engine/run-load.ts';
import { deploy } from '../../bench/temporal/deployment.ts';
import { onDevServer } from '../../bench/temporal/ground.ts';
import { runId, userId } from '../../core/ids.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import { WORKER_SLOTS_DEFAULT } from '../../temporal/worker.ts';
import { describeWith } from '../helpers/requires.ts';

const ALL_MS_MAX = 600_000;
const ITEMS = 75;
const AT_ONCE = 70;

describeWith('temporal', 'a batch larger than a worker', () => {
  it(
    'waits for slots, and loses nothing',
    async () => {
      expect(AT_ONCE).toBeGreaterThan(Math.max(...Object.values(WORKER_SLOTS_DEFAULT)));
      await onDevServer(async (ground) => {
        let finish: (row: RunRow) => void = () => undefined;
        const finished = new Promise<RunRow>((resolve) => (finish = resolve));
        const deployment = await deploy(ground, {
          activityMs: 100,
          onRows: (rows) => {
            for (const row of rows) if (row.table === 'run' && row.phase === 'finished') finish(row);
          },
        });
        try {
          const id = runId('larger');
          const plan = planOf(id, { items: ITEMS, concurrency: AT_ONCE });
          await deployment.store.plans.putPlan(id, plan);
          const spec = runSpec(plan, { runId: id, userId: userId('bench') });
          await deployment.requests.deliver({
            to: { machine: 'run', id },
            event: { type: 'runStarted', spec },
          });
          expect(await finished).toMatchObject({ ended: { succeeded: ITEMS } });
        } finally {
          await deployment.stop();
        }
      });
    },
    ALL_MS_MAX,
  );
});
