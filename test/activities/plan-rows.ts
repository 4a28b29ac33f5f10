/**
 * Plans for tests of the activities that read one.
 * Owns the defaults of a plan with one item; a test names only what it is about.
 */
import type { Plan, PlanItem } from '../../core/plan/plan.ts';

export function planItemOf(change: Partial<PlanItem> = {}): PlanItem {
  return {
    key: 'one',
    entry: 'one',
    matrix: {},
    prompt: 'Do it',
    repository: null,
    model: 'small',
    tags: {},
    secrets: {},
    verify: null,
    limits: { workingMs: null, turns: null, nanoUsd: null },
    priority: 0,
    index: 0,
    specHash: 'spec',
    ...change,
  };
}

export function planWith(item: Partial<PlanItem>, change: Partial<Plan> = {}): Plan {
  return {
    format: 1,
    name: 'job',
    description: null,
    labels: {},
    secrets: {},
    items: [planItemOf(item)],
    placement: { strategy: null, sandboxId: null },
    admission: { concurrency: 1 },
    budget: null,
    retry: [],
    breaker: null,
    wait: { until: ['FINISHED'], deadlineMs: null, noProgressMs: null, onSessionLimit: 'resume' },
    collect: [],
    cleanup: { sandbox: 'delete', conversation: 'keep', onCollectFailure: 'keep' },
    tolerate: { failed: 0 },
    reconcile: null,
    report: [],
    hash: 'hash',
    ...change,
  };
}
