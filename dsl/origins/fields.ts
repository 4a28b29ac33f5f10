/**
 * The fields of a plan and of an item beside the keys of the job that give them.
 * Owns the two tables; a test says that every field of a plan is in them.
 */
import { CODE_HOST_KINDS } from '../../core/plan/plan-issue.ts';
import type { TreePath } from '../read/tree.ts';

export interface PlanField {
  /** Dotted, as in the plan. */
  readonly field: string;
  /** As in the job; of several the first that is written. */
  readonly keys: readonly string[];
  /** Each entry of a map is a value of its own. */
  readonly isMap?: true;
  /**
   * Of an item, and written for the whole run; `too`: where the conversation does not write it. Said only where there is a
   * value.
   */
  readonly ofRun?: 'only' | 'too';
  /** Who decides where the job says nothing; built in when absent. */
  readonly otherwise?: 'deployment';
}

const WAIT = {
  until: 'until',
  deadlineMs: 'deadline',
  noProgressMs: 'no_progress',
  onSessionLimit: 'on_session_limit',
};

export const RUN_FIELDS: readonly PlanField[] = [
  { field: 'description', keys: ['description'] },
  { field: 'labels', keys: ['labels'], isMap: true },
  { field: 'secrets', keys: ['secrets'], isMap: true },
  { field: 'placement.strategy', keys: ['placement.strategy'], otherwise: 'deployment' },
  { field: 'placement.sandboxId', keys: ['placement.sandbox'] },
  { field: 'placement.host', keys: ['placement.host'] },
  { field: 'placement.labels', keys: ['placement.labels'], isMap: true },
  ...below('placement.pool', {
    size: 'size',
    maxPerSandbox: 'max_per_sandbox',
    recycleAfter: 'recycle.after',
    recycleAgeMs: 'recycle.max_age',
    onFull: 'on_full',
    warm: 'warm',
  }),
  { field: 'admission.concurrency', keys: ['admission.concurrency'] },
  { field: 'admission.per', keys: ['admission.per'] },
  { field: 'admission.startEveryMs', keys: ['admission.rate'] },
  { field: 'admission.rampMs', keys: ['admission.ramp'] },
  { field: 'admission.adaptive', keys: ['admission.adaptive'] },
  { field: 'admission.order', keys: ['admission.order', 'admission.seed'] },
  { field: 'admission.canary', keys: ['admission.canary'] },
  { field: 'budget.nanoUsd', keys: ['budget.usd'] },
  { field: 'budget.reserveNanoUsd', keys: ['budget.reserve'] },
  { field: 'budget.mode', keys: ['budget.mode'] },
  { field: 'budget.softNanoUsd', keys: ['budget.soft'] },
  { field: 'budget.onExceeded', keys: ['budget.on_exceeded'] },
  { field: 'retry', keys: ['retry'] },
  { field: 'breaker', keys: ['breaker'] },
  ...below('wait', WAIT),
  { field: 'collect', keys: ['collect'] },
  { field: 'deliver', keys: ['deliver'] },
  { field: 'cleanup.sandbox', keys: ['cleanup.sandbox'] },
  { field: 'cleanup.conversation', keys: ['cleanup.conversation'] },
  { field: 'cleanup.onCollectFailure', keys: ['cleanup.on_collect_failure'] },
  { field: 'tolerate.failed', keys: ['tolerate.failed'] },
  { field: 'reconcile.rows', keys: ['reconcile.rows'] },
  { field: 'reconcile.settleMs', keys: ['reconcile.settle'] },
  { field: 'reconcile.windowBeforeMs', keys: ['reconcile.window.before'] },
  { field: 'reconcile.windowAfterMs', keys: ['reconcile.window.after'] },
  { field: 'reconcile.ambiguous', keys: ['reconcile.ambiguous'] },
  { field: 'reconcile.unmatchedNanoUsdMax', keys: ['reconcile.expect.unmatched_usd'] },
  { field: 'reconcile.unbilledMax', keys: ['reconcile.expect.unbilled'] },
  { field: 'schedule', keys: ['schedule'] },
  { field: 'report', keys: ['report'] },
  { field: 'finally', keys: ['finally'] },
];

export const ITEM_FIELDS: readonly PlanField[] = [
  { field: 'entry', keys: ['id'] },
  { field: 'key', keys: ['key'] },
  { field: 'repeat', keys: ['repeat'] },
  { field: 'whole', keys: ['outcome'] },
  { field: 'matrix', keys: ['matrix'], isMap: true },
  { field: 'prompt', keys: ['prompt'] },
  { field: 'repository.name', keys: ['repo.name'] },
  { field: 'repository.branch', keys: ['repo.branch', 'branch'], otherwise: 'deployment' },
  { field: 'repository.ref', keys: ['repo.ref'] },
  { field: 'repository.submodules', keys: ['repo.submodules'] },
  { field: 'repository.lfs', keys: ['repo.lfs'] },
  { field: 'repository.host', keys: ['repo.host'], otherwise: 'deployment' },
  { field: 'repository.tokenSecret', keys: ['repo.token'] },
  { field: 'repository.author', keys: ['repo.author'], otherwise: 'deployment' },
  { field: 'model', keys: ['model'] },
  { field: 'tags', keys: ['tags'], isMap: true },
  { field: 'observability', keys: ['observability'] },
  { field: 'secrets', keys: ['secrets'], isMap: true },
  { field: 'setup', keys: ['setup'] },
  { field: 'verify.command', keys: ['verify.command'] },
  { field: 'verify.timeoutMs', keys: ['verify.timeout'] },
  { field: 'scores', keys: ['scores'] },
  { field: 'limits.workingMs', keys: ['limits.working'] },
  { field: 'limits.turns', keys: ['limits.turns'] },
  { field: 'limits.nanoUsd', keys: ['limits.usd'] },
  { field: 'retry', keys: ['retry'], ofRun: 'too' },
  { field: 'collect', keys: ['collect'], ofRun: 'too' },
  ...below('wait', WAIT).map((field) => ({ ...field, ofRun: 'too' as const })),
  { field: 'needs', keys: ['needs', 'items.from'] },
  { field: 'awaits', keys: ['items.from'] },
  { field: 'issue', keys: CODE_HOST_KINDS.map((kind) => `items.${kind}`) },
  { field: 'affinity', keys: ['placement.pool.affinity'], ofRun: 'only' },
  { field: 'priority', keys: ['priority'] },
  { field: 'confirmation', keys: ['confirmation'] },
  { field: 'plugins', keys: ['plugins'] },
  { field: 'agent', keys: ['agent'] },
];

/** Fields of one part, with the keys of the same part. */
function below(part: string, fields: Readonly<Record<string, string>>): PlanField[] {
  return Object.entries(fields).map(([field, key]) => ({
    field: `${part}.${field}`,
    keys: [`${part}.${key}`],
  }));
}

export function pathOf(key: string): TreePath {
  return key.split('.');
}

/** The value at a dotted path; undefined where the way ends early. */
export function valueAt(value: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>(
      (current, name) =>
        typeof current === 'object' && current !== null
          ? (current as Readonly<Record<string, unknown>>)[name]
          : undefined,
      value,
    );
}
