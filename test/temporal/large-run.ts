/**
 * The state of a run of many items near its end, as it goes from one run of its workflow to the next.
 * Owns made-up ids with as much chance in them as real ones; must not be smaller than life.
 */
import { createHash } from 'node:crypto';
import { conversationId, runId, sandboxId, userId } from '../../core/ids.ts';
import { initRun } from '../../core/run/init.ts';
import { allItemsByPhase } from '../../core/run/items-by-phase.ts';
import type { RunItem, RunState } from '../../core/run/state.ts';
import { RULES } from '../core/run-life.ts';

const NOW = 1_784_900_000_000;
const RUN_HEX = hexOf('run').slice(0, 16);

/** What cannot be foreseen, and is the same in every test. */
function hexOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

const numberOf = (text: string, below: number): number =>
  Number.parseInt(hexOf(text).slice(0, 12), 16) % below;

/** Every item has a conversation and a sandbox of its own; one in ten was tried twice. */
export function largeRun(count: number): RunState {
  const names = Array.from(
    { length: count },
    (_, index) => `fix-flaky-tests[package=services/component-${index}]`,
  );
  const created = initRun(
    {
      runId: runId(`run-${RUN_HEX}`),
      userId: userId('ada.lovelace@example.com'),
      name: 'nightly',
      planHash: hexOf('plan'),
      rules: RULES,
      items: names.map((key) => ({ key, priority: 0, hasVerify: true, workingMs: 3_600_000 })),
    },
    NOW,
  );
  const items = created.items.map(ended);
  const sandboxes = items.map(({ key }) => ({
    sandboxId: sandboxId(hexOf(`sandbox ${key}`)),
    state: 'gone' as const,
    awaiting: null,
  }));
  return {
    ...created,
    items,
    sandboxes,
    byPhase: allItemsByPhase(items),
    commandCount: 9 * count,
    sequence: 12 * count,
  };
}

function ended(item: RunItem, index: number): RunItem {
  const { key } = item;
  const isRetried = index % 10 === 0;
  const admittedAt = NOW + numberOf(`from ${key}`, 86_400_000);
  return {
    ...item,
    phase: 'ended',
    attempt: isRetried ? 2 : 1,
    failures: isRetried ? { agent_error: 1 } : {},
    conversationId: conversationId(hexOf(`conversation ${key}`)),
    past: isRetried ? [conversationId(hexOf(`first conversation ${key}`))] : [],
    noticed: 10 + numberOf(`noticed ${key}`, 20),
    sandboxId: sandboxId(hexOf(`sandbox ${key}`)),
    sandboxStatus: 'RUNNING',
    executionStatus: 'FINISHED',
    ending: { outcome: 'succeeded', failureClass: null, detail: null },
    costNanoUsd: numberOf(`cost ${key}`, 2_000_000_000),
    admittedAt,
    workedMs: numberOf(`worked ${key}`, 3_600_000),
    endedAt: admittedAt + numberOf(`took ${key}`, 3_600_000),
  };
}
