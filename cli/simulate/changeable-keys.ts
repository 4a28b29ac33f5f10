/**
 * The keys that a simulation may change: those of parley.yaml and of a job that a play depends on.
 * Owns the list and what each does to a policy or a plan; forms and bounds are those of the files. The length of a
 * session is no key (D10).
 */
import { z } from 'zod';
import type { Plan, PlanBudget } from '../../core/plan/plan.ts';
import type { GroupingStrategy } from '../../core/status.ts';
import { SECOND_MS } from '../../core/time.ts';
import { amountNano, durationMs } from '../../dsl/plan/resolve-item.ts';
import { jobSchema } from '../../dsl/schema/job-schema.ts';
import type { Policy } from '../../simulator/models/model-options.ts';
import { deploymentSchema } from '../../host/config/schema/deployment-schema.ts';

/** What a play is about, as far as it can be changed. */
export interface Setup {
  readonly plan: Plan;
  readonly policy: Policy;
}

/** A value in the form of its file. */
export type ChangeValue = string | number;

export interface ChangeableKey {
  /** What says whether a value is one. */
  readonly schema: z.core.$ZodType;
  apply(setup: Setup, value: ChangeValue): Setup;
}

export const CHANGEABLE_KEYS: ReadonlyMap<string, ChangeableKey> = new Map([
  policyKey(['limits', 'idle_time'], ({ limits }, value) => ({
    limits: { ...limits, idleTimeMs: limitMs(value) },
  })),
  policyKey(['limits', 'deletion_time'], ({ limits }, value) => ({
    limits: { ...limits, deletionTimeMs: limitMs(value) },
  })),
  policyKey(['capacity', 'sandboxes'], ({ capacity }, value) => ({
    capacity: { ...capacity, installationMax: Number(value) },
  })),
  policyKey(['capacity', 'sandboxes_per_user'], ({ capacity }, value) => ({
    capacity: { ...capacity, userMax: Number(value) },
  })),
  policyKey(['capacity', 'conversations_per_sandbox'], ({ capacity }, value) => ({
    capacity: { ...capacity, conversationsPerSandboxMax: Number(value) },
  })),
  policyKey(['capacity', 'on_full'], (_, value) => ({ onFull: value as Policy['onFull'] })),
  policyKey(['user', 'grouping'], (_, value) => ({ grouping: strategyOf(value) })),
  planKey(['admission', 'concurrency'], (_, value) => ({ admission: { concurrency: Number(value) } })),
  planKey(['budget', 'usd'], (plan, value) => ({
    budget: { ...budgetOf(plan), nanoUsd: amountNano(String(value)) ?? 0 },
  })),
  planKey(['budget', 'reserve'], (plan, value) => ({
    budget: plan.budget && { ...plan.budget, reserveNanoUsd: amountNano(String(value)) ?? 0 },
  })),
  planKey(['budget', 'mode'], (plan, value) => ({
    budget: plan.budget && { ...plan.budget, mode: value as PlanBudget['mode'] },
  })),
  planKey(['placement', 'strategy'], ({ placement }, value) => ({
    placement: { ...placement, strategy: strategyOf(value) },
  })),
  planKey(['wait', 'deadline'], ({ wait }, value) => ({
    wait: { ...wait, deadlineMs: durationMs(String(value)) },
  })),
  planKey(['wait', 'no_progress'], ({ wait }, value) => ({
    wait: { ...wait, noProgressMs: durationMs(String(value)) },
  })),
  planKey(['wait', 'on_session_limit'], ({ wait }, value) => ({
    wait: { ...wait, onSessionLimit: value as Plan['wait']['onSessionLimit'] },
  })),
  planKey(['cleanup', 'sandbox'], ({ cleanup }, value) => ({
    cleanup: { ...cleanup, sandbox: value as Plan['cleanup']['sandbox'] },
  })),
  planKey(['cleanup', 'conversation'], ({ cleanup }, value) => ({
    cleanup: { ...cleanup, conversation: value as Plan['cleanup']['conversation'] },
  })),
  planKey(['cleanup', 'on_collect_failure'], ({ cleanup }, value) => ({
    cleanup: { ...cleanup, onCollectFailure: value as Plan['cleanup']['onCollectFailure'] },
  })),
]);

type Entry = readonly [name: string, key: ChangeableKey];
type KeyPath = readonly [section: string, key: string];

function policyKey(path: KeyPath, change: (policy: Policy, value: ChangeValue) => Partial<Policy>): Entry {
  return [
    path.join('.'),
    {
      schema: schemaOf(deploymentSchema, path),
      apply: ({ plan, policy }, value) => ({ plan, policy: { ...policy, ...change(policy, value) } }),
    },
  ];
}

function planKey(path: KeyPath, change: (plan: Plan, value: ChangeValue) => Partial<Plan>): Entry {
  return [
    path.join('.'),
    {
      schema: schemaOf(jobSchema, path),
      apply: ({ plan, policy }, value) => ({ plan: { ...plan, ...change(plan, value) }, policy }),
    },
  ];
}

/** The schema of a key, without "optional" around it. */
function schemaOf(root: z.core.$ZodType, path: KeyPath): z.core.$ZodType {
  return path.reduce<z.core.$ZodType>((at, step) => {
    const field = at instanceof z.ZodObject ? (at.shape as z.core.$ZodShape)[step] : undefined;
    if (field === undefined) throw new Error(`Cannot change "${path.join('.')}": no file has this key`);
    return field instanceof z.ZodOptional ? field.unwrap() : field;
  }, root);
}

/** Zero switches a limit off (D10). */
function limitMs(seconds: ChangeValue): number | null {
  return Number(seconds) === 0 ? null : Number(seconds) * SECOND_MS;
}

function strategyOf(word: ChangeValue): GroupingStrategy {
  return String(word).toUpperCase() as GroupingStrategy;
}

/** A job without a budget gets one as the file would: the largest limit of one item is held back. */
function budgetOf({ budget, items }: Plan): PlanBudget {
  if (budget !== null) return budget;
  const reserveNanoUsd = items.reduce((most, { limits }) => Math.max(most, limits.nanoUsd ?? 0), 0);
  return { nanoUsd: 0, reserveNanoUsd, mode: 'enforce' };
}
