/** The pieces that scripts are made of: a policy, a world, a plan. Owns their first values; a script changes what it is about. */
import type { Plan, PlanItem, PlanNotify } from '../../core/plan/plan.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { fixed, uniform } from '../../simulator/models/distribution.ts';
import {
  MODELS_STEADY,
  type AgentBehaviour,
  type ModelOptions,
  type Policy,
} from '../../simulator/models/model-options.ts';
import type { Action, Script } from '../../simulator/script.ts';

export const POLICY: Policy = {
  limits: { idleTimeMs: 20 * MINUTE_MS, deletionTimeMs: 10 * DAY_MS },
  capacity: { installationMax: 100, userMax: 100, conversationsPerSandboxMax: 20 },
  onFull: 'refuse',
  grouping: 'NO_GROUPING',
};

export function agent(change: Partial<AgentBehaviour>): ModelOptions {
  return { ...MODELS_STEADY, agent: { ...MODELS_STEADY.agent, ...change } };
}

/** Every call takes a time of its own, so that what begins in one instant ends in several. */
export const APART: ModelOptions = { ...MODELS_STEADY, agentCall: uniform(SECOND_MS, 40 * SECOND_MS) };

/** Works longer than any session. */
export const BUSY = agent({ work: fixed(30 * HOUR_MS) });

export const failing = (failures: ModelOptions['failures'], models = MODELS_STEADY): ModelOptions => ({
  ...models,
  failures,
});

export function item(index: number, change: Partial<PlanItem> = {}): PlanItem {
  return {
    key: `item-${index}`,
    entry: 'item',
    matrix: {},
    prompt: 'do it',
    repository: null,
    model: 'm',
    tags: {},
    secrets: {},
    verify: null,
    limits: { workingMs: null, turns: null, nanoUsd: null },
    priority: 0,
    index,
    specHash: 'h',
    ...change,
  };
}

/** A receiver that is notified of the end of a run. */
export function told(timeoutMs = MINUTE_MS): PlanNotify {
  const to = { url: 'https://receiver.example' };
  return { kind: 'notify', to, keySecret: null, text: 'over', when: 'always', timeoutMs };
}

export function plan(count: number, change: Partial<Plan> = {}): Plan {
  return {
    format: 1,
    name: 'batch',
    description: null,
    labels: {},
    secrets: {},
    items: Array.from({ length: count }, (_, index) => item(index)),
    placement: { strategy: 'NO_GROUPING', sandboxId: null },
    admission: { concurrency: 2 },
    budget: null,
    retry: [],
    breaker: null,
    wait: {
      until: ['FINISHED', 'ERROR', 'STUCK', 'WAITING_FOR_CONFIRMATION'],
      deadlineMs: 3 * DAY_MS,
      noProgressMs: 30 * MINUTE_MS,
      onSessionLimit: 'resume',
    },
    collect: [],
    cleanup: { sandbox: 'delete', conversation: 'keep', onCollectFailure: 'keep' },
    tolerate: { failed: 0 },
    reconcile: null,
    report: [],
    hash: 'h',
    ...change,
  };
}

export interface Parts {
  readonly models?: ModelOptions;
  readonly policy?: Partial<Policy>;
  readonly untilMs?: number;
}

export type TimedStep = readonly [atMs: number, action: Action];

export function script(
  name: string,
  steps: readonly TimedStep[],
  { models = MODELS_STEADY, policy, untilMs }: Parts = {},
): Script {
  return {
    name,
    seed: 7,
    models,
    policy: { ...POLICY, ...policy },
    steps: steps.map(([atMs, action]) => ({ atMs, action })),
    untilMs: untilMs ?? 12 * DAY_MS,
  };
}

export const start = (name: string, change: Partial<Extract<Action, { do: 'start' }>> = {}): Action => ({
  do: 'start',
  name,
  ...change,
});
export const S = SECOND_MS;
export const M = MINUTE_MS;
export const H = HOUR_MS;
export const D = DAY_MS;
