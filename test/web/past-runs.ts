/**
 * Two ended runs of one job with more items than a page holds, as they are in the store of a service.
 * Owns what is in them: `moody` succeeded in the first only, every fiftieth item failed in both.
 */
import { CHECK_LOG, checkLog } from '../../activities/check-log.ts';
import { PATCH_FILE } from '../../activities/collect/diff.ts';
import { SHA256 } from '../../host/job/job-file.ts';
import { runId, userId } from '../../core/ids.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import type { Service } from '../api/service.ts';
import { demoPlan } from '../cli/rows.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';

export const PAST = { first: 'past-1', second: 'past-2', job: 'past' } as const;
export const ITEMS = 120;
const NANO_USD = 1_000_000;

/** More items than a page holds, unless a test is about something else. */
export async function leavePastRuns({ store, world }: Service, count = ITEMS): Promise<void> {
  const plan = planOf(count);
  for (const [at, id] of [PAST.first, PAST.second].entries()) {
    const run = { runId: runId(id), userId: userId('ada') } as const;
    await store.plans.putPlan(run.runId, plan);
    await store.records.project([
      runRow({
        ...{ ...run, name: PAST.job, planHash: plan.hash, phase: 'finished', mode: 'normal', reason: null },
        ...{ total: plan.items.length, waiting: 0, inFlight: 0, createdAt: 1_000 + at, endedAt: 61_000 },
        ...{ ended: endedOf(plan.items.length), spentNanoUsd: 5_000_000_000 },
      }),
      ...plan.items.map(({ key, index }) => {
        const isMoody = key === 'moody' && at === 1;
        const isWell = !isMoody && index % 50 !== 49;
        return runItemRow(key, {
          ...{ runId: run.runId, phase: 'ended', outcome: isWell ? 'succeeded' : 'failed' },
          ...{ costNanoUsd: (index + 1) * NANO_USD, admittedAt: 1_000, endedAt: 2_000 + index * 1_000 },
          ...{ conversationId: null, failureClass: null, detail: null },
        });
      }),
    ]);
    const write = (name: string, text: string) =>
      world.results.write({ runId: run.runId, key: 'moody', name }, new TextEncoder().encode(text));
    await write(CHECK_LOG, checkLog(at, 'two tests <b>fail</b>'));
    await write(PATCH_FILE, '--- a/note.txt\n+++ b/note.txt\n@@ -1 +1 @@\n-old\n+new\n');
  }
}

function endedOf(count: number): RunRow['ended'] {
  const failed = Math.floor(count / 50) + 1;
  return { succeeded: count - failed, failed };
}

function planOf(count: number): Plan {
  const [first] = demoPlan().items;
  if (first === undefined) throw new Error('the demo has an item');
  const items = Array.from({ length: count }, (_, index) => ({
    ...first,
    ...{ key: index === 0 ? 'moody' : `item-${String(index).padStart(3, '0')}`, index },
    ...{ prompt: `Do number ${index}.`, model: index % 2 === 0 ? 'coder' : 'small' },
    ...{ tags: { shard: String(index % 10) }, verify: { command: 'npm test', timeoutMs: 1_000 } },
  }));
  const { hash: _hash, ...rest } = {
    ...demoPlan(),
    ...{ name: PAST.job, items, report: [{ format: 'html' as const, file: 'report.html' }] },
  };
  return { ...rest, hash: hashPlan(rest, SHA256) };
}
