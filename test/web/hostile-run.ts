/**
 * An ended run in the store of a service, in which every foreign text attacks the page.
 * Owns what is in it: an item for each hostile text, of which two of three failed.
 */
import { appendEvents } from '../../activities/transcript.ts';
import { CHECK_LOG, checkLog } from '../../activities/check-log.ts';
import { PATCH_FILE } from '../../activities/collect/diff.ts';
import { SHA256 } from '../../host/job/job-file.ts';
import { runId, userId } from '../../core/ids.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import type { Service } from '../api/service.ts';
import { demoPlan } from '../cli/rows.ts';
import { conversationNumber, conversationRow, runItemRow, runRow } from '../contract/store-rows.ts';
import { HOSTILE } from './hostile-texts.ts';
import { message } from './page-world.ts';

export const HOSTILE_RUN = 'hostile-1';
const OUTCOMES = ['check_failed', 'failed', 'succeeded'] as const;

export async function leaveHostileRun({ store, world }: Service): Promise<void> {
  const [first] = demoPlan().items;
  if (first === undefined) throw new Error('the demo has an item');
  const items = HOSTILE.map((text, index) => ({
    ...first,
    ...{ key: keyOf(index), index, prompt: text, model: text, tags: { [text.slice(0, 40)]: text } },
    verify: { command: text, timeoutMs: 1_000 },
  }));
  const { hash: _hash, ...rest } = { ...demoPlan(), items, description: HOSTILE.join(' ') };
  const plan = { ...rest, hash: hashPlan(rest, SHA256) };
  const run = { runId: runId(HOSTILE_RUN), userId: userId('ada') } as const;
  await store.plans.putPlan(run.runId, plan);
  await store.records.project([
    runRow({
      ...{ ...run, name: HOSTILE[0] ?? '', planHash: plan.hash, phase: 'finished', mode: 'normal' },
      ...{ reason: null, total: items.length, waiting: 0, inFlight: 0, createdAt: 1_000, endedAt: 61_000 },
      ended: { failed: items.length },
    }),
    ...items.map(({ key }, index) => conversationRow(conversationNumber(index), { ...run, key })),
    ...items.map(({ key }, index) => {
      const outcome = OUTCOMES[index % OUTCOMES.length] ?? 'failed';
      return runItemRow(key, {
        ...{ runId: run.runId, phase: 'ended', outcome, attempt: 1, detail: HOSTILE[index] ?? '' },
        ...{ conversationId: conversationNumber(index), costNanoUsd: index, admittedAt: 1_000 },
        ...{ endedAt: 2_000 + index, failureClass: outcome === 'failed' ? 'agent_error' : null },
      });
    }),
  ]);
  for (const [index, text] of HOSTILE.entries()) {
    const write = (name: string, content: string): Promise<void> =>
      world.results.write({ runId: run.runId, key: keyOf(index), name }, new TextEncoder().encode(content));
    await write(CHECK_LOG, checkLog(1, text));
    await write(PATCH_FILE, `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${text}\n+${text}\n`);
    await appendEvents(world, conversationNumber(index), [
      {
        ...{ id: `e-${index}`, timestamp: '2026-01-01T00:00:00.000000' },
        ...{ kind: 'MessageEvent', source: 'agent', ...message(text) },
      },
    ]);
  }
}

function keyOf(index: number): string {
  return `item-${String(index).padStart(3, '0')}`;
}
