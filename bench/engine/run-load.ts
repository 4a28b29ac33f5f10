/**
 * One run of many items, as a user submits it: started, finished, collected, cleaned up and ended by its machine.
 * Owns the plan; what a job collects is left out, because packing files is not the engine's work.
 */
import { runId, userId, type RunId } from '../../core/ids.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import type { RunState } from '../../core/run/state.ts';
import type { StepRecord } from '../../engine/batch.ts';
import { openInstallation, type Reading } from './installation.ts';

export interface RunLoad {
  readonly items: number;
  readonly concurrency: number;
  /** One after the other on the same engine. */
  readonly runs: number;
  readonly dir: string;
}

/** What one run cost, and the memory the process held after it. */
export interface RunReading extends Reading {
  readonly rssMb: number;
}

/** Calls `onRun` after every run. */
export async function runRuns(load: RunLoad, onRun: (reading: RunReading) => void): Promise<void> {
  let ended: () => void = () => undefined;
  const onStep = ({ address, after }: StepRecord): void => {
    if (address.machine === 'run' && (after as RunState).phase === 'finished') ended();
  };
  const installation = await openInstallation({ dir: load.dir, grouped: true, onStep });
  const { engine, store } = installation;
  for (let index = 0; index < load.runs; index += 1) {
    const id = runId(`run-${index}`);
    const plan = planOf(id, load);
    const done = new Promise<void>((resolve) => (ended = resolve));
    installation.begin();
    await store.plans.putPlan(id, plan);
    const spec = runSpec(plan, { runId: id, userId: userId('bench') });
    await engine.deliver({ to: { machine: 'run', id }, event: { type: 'runStarted', spec } });
    await done;
    await engine.settled();
    onRun({ ...installation.read(), rssMb: process.memoryUsage.rss() / 2 ** 20 });
  }
  await installation.close();
}

export function planOf(id: RunId, load: Pick<RunLoad, 'items' | 'concurrency'>): Plan {
  return {
    format: 1,
    name: id,
    description: null,
    labels: {},
    secrets: {},
    items: Array.from({ length: load.items }, (_, index) => planItem(index)),
    placement: { strategy: 'NO_GROUPING', sandboxId: null },
    admission: { concurrency: load.concurrency },
    budget: null,
    retry: [],
    breaker: null,
    wait: { until: ['FINISHED'], deadlineMs: null, noProgressMs: null, onSessionLimit: 'resume' },
    collect: [],
    cleanup: { sandbox: 'delete', conversation: 'delete', onCollectFailure: 'keep' },
    tolerate: { failed: 0 },
    reconcile: null,
    report: [],
    hash: id,
  };
}

function planItem(index: number): PlanItem {
  return {
    key: `item-${index}`,
    entry: 'item',
    matrix: {},
    prompt: 'Do it',
    repository: { name: 'bench/repository', branch: null, host: null, tokenSecret: null },
    model: 'bench',
    tags: { bench: 'engine' },
    secrets: {},
    verify: null,
    limits: { workingMs: null, turns: null, nanoUsd: null },
    priority: 0,
    index,
    specHash: '',
  };
}
