/**
 * Every default that is an amount is met by a batch larger than it: played here, where no real program is needed, or
 * by the test that is named. An amount of the published schemas that is in neither list fails.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { PlanAnswer } from '../../simulator/simulate-plan.ts';
import { createWorld } from '../../testing/index.ts';
import { mostAtWork, playBatch } from './played.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** How many came to which end, with which attempt: `succeeded/1`. */
function ends({ conversations }: PlanAnswer): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { outcome, attempts, detail } of conversations) {
    const end = [outcome, attempts, ...(detail === null ? [] : [detail])].join('/');
    counts[end] = (counts[end] ?? 0) + 1;
  }
  return counts;
}

const ALL_WELL = { 'succeeded/1': 300 };
const WIDE = { sandboxes: 300, sandboxesPerUser: 300 };

/** Key of the job or of the deployment → a batch that goes beyond its default. */
const PLAYED: Readonly<Record<string, () => void>> = {
  'job admission.concurrency': () => {
    const answer = playBatch({ policy: WIDE });
    expect(ends(answer)).toEqual(ALL_WELL);
    expect(mostAtWork(answer)).toBe(10);
  },
  'deployment capacity.sandboxes_per_user': () => {
    const answer = playBatch({ job: 'admission: {concurrency: 300}' });
    expect(ends(answer)).toEqual(ALL_WELL);
    expect(answer.sandboxesPeak).toBe(10);
  },
  'deployment capacity.sandboxes': () => {
    const answer = playBatch({ job: 'admission: {concurrency: 300}', policy: { sandboxesPerUser: 300 } });
    expect(ends(answer)).toEqual(ALL_WELL);
    expect(answer.sandboxesPeak).toBe(100);
  },
  'deployment capacity.conversations_per_sandbox': () => {
    // Ten sandboxes take two hundred; the others wait until one of those has ended.
    const grouping = 'FEWEST_CONVERSATIONS';
    const answer = playBatch({ job: 'admission: {concurrency: 300}', policy: { grouping } });
    expect(ends(answer)).toEqual(ALL_WELL);
    expect([answer.sandboxesPeak, mostAtWork(answer)]).toEqual([10, 200]);
  },
  'job placement.pool.max_per_sandbox': () => {
    const answer = playBatch({ job: 'placement: {pool: {size: 3}}' });
    expect(ends(answer)).toEqual(ALL_WELL);
    expect([answer.sandboxesPeak, mostAtWork(answer)]).toEqual([3, 3]);
    expect(answer.makespanMs).toBeGreaterThan(100 * MINUTE_MS);
  },
  'job wait.no_progress': () => {
    const quiet = (length: string, leased = false) => ({ gaps: [{ at: '10s', length, leased }] });
    const agents = { 'item-7': quiet('31m'), 'item-8': quiet('19m'), 'item-9': quiet('31m', true) };
    expect(ends(playBatch({ models: { agents } }))).toEqual({
      'succeeded/1': 299,
      'failed/1/no_progress': 1,
    });
  },
  'job wait.deadline': () => {
    const answer = playBatch({
      models: { agents: { 'item-7': { work: '12h' }, 'item-8': { work: '11h' } } },
    });
    expect(ends(answer)).toEqual({ 'succeeded/1': 299, 'failed/1/the deadline of the job': 1 });
    expect(answer.makespanMs).toBeLessThan(11.6 * HOUR_MS);
  },
  'job retry[].attempts': () => {
    const answer = playBatch({ items: 30, change: { failures: { createSandbox: { share: 1 } } } });
    for (const { outcome, attempts } of answer.conversations)
      expect([outcome, attempts]).toEqual(['failed', 3]);
  },
  'job retry[].backoff': () => {
    const failures = { createSandbox: { share: 1 } };
    const job = 'retry: [{on: [infra], attempts: 8}]';
    const [one] = playBatch({ items: 1, job, change: { failures } }).conversations;
    const begins = (one?.stretches ?? []).filter(({ as }) => as === 'starting').map(({ from }) => from);
    const pauses = begins.slice(1).map((at, index) => at - (begins[index] ?? 0));
    // Doubled from half a minute on, and never more than ten.
    const wanted = [0.5, 1, 2, 4, 8, 10, 10, 10].map((minutes) => minutes * MINUTE_MS);
    expect(pauses).toHaveLength(wanted.length);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(wanted[index] ?? 0);
      expect(pause).toBeLessThan((wanted[index] ?? 0) + MINUTE_MS);
    }
  },
  'job tolerate.failed': () => {
    const answer = playBatch({ models: { agents: { 'item-7': { outcome: 'ERROR' } } } });
    expect(answer.phase).toBe('finished');
    expect(answer.conversations.filter(({ outcome }) => outcome !== 'succeeded')).toHaveLength(1);
  },
  'deployment limits.idle_time': () => {
    const world = createWorld({ policy: { sandboxes: 30 } });
    const all = Array.from({ length: 30 }, (_, at) => world.start({ name: `c${at}` }));
    world.advance('37m');
    for (const one of all) expect(one.status).toBe('RUNNING');
    world.advance('5m');
    for (const one of all) expect([one.status, one.pauseReason]).toEqual(['PAUSED', 'idle']);
  },
  'deployment limits.deletion_time': () => {
    const world = createWorld({ policy: { sandboxes: 30 } });
    const all = Array.from({ length: 30 }, (_, at) => world.start({ name: `c${at}` }));
    world.advance(10 * DAY_MS);
    for (const one of all) expect(one.status).toBe('PAUSED');
    world.advance(2 * HOUR_MS);
    for (const one of all) expect(one.status).toBe('MISSING');
  },
};

/** Key → file and a title in it; several keys may be met by one. */
const ELSEWHERE: Readonly<Record<string, readonly [string, string]>> = {
  'deployment engine.slots.sandbox': ['defaults/temporal-batch', 'waits for slots'],
  'deployment engine.slots.agent': ['defaults/temporal-batch', 'waits for slots'],
  'deployment engine.slots.bookkeeping': ['defaults/temporal-batch', 'waits for slots'],
  'deployment engine.slots.watch': ['defaults/temporal-batch', 'waits for slots'],
  'deployment agent.iterations_max': ['defaults/hungry-batch', 'steps'],
  'deployment runtime.limits.processes': ['defaults/hungry-batch', 'processes'],
  'deployment runtime.limits.memory_mb': ['defaults/hungry-batch', 'memory'],
  'deployment runtime.limits.file_mb': ['defaults/hungry-batch', 'file'],
  'deployment runtime.limits.disk_mb': ['defaults/hungry-batch', 'disk'],
  'deployment store.pool': ['defaults/store-crowd', 'more clients than connections'],
  'deployment store.statement_timeout': ['defaults/store-crowd', 'a statement that hangs'],
  'deployment warm_pool.max_age': ['core/warm-pool', 'warmSteps'],
  'deployment host.lease': ['host/host-lease', 'away for longer than its time'],
  'deployment host.lost_after': ['host/host-losses', 'away for longer than the bound'],
  'job reconcile.settle': ['core/run-table', 'settling'],
  'job reconcile.window.before': ['core/reconcile', 'both ends of the window included'],
  'job reconcile.window.after': ['core/reconcile', 'both ends of the window included'],
  'job budget.reserve': ['proxy/run-budget-batch', 'budget'],
};

/** Too slow for a test: the same with a smaller amount. */
const SMALLER: typeof ELSEWHERE = {
  'deployment engine.events_max': ['conformance/continued.temporal', 'eventsMax'],
  'deployment proxy_config.model_list.*.timeout': ['proxy/gateway-errors', "'gateway_timeout'"],
  'job conversations.verify.timeout': ['activities/conversations', 'says so when the check does not end'],
  'job defaults.verify.timeout': ['activities/conversations', 'says so when the check does not end'],
  'job conversations.setup.timeout': ['activities/setup-steps', 'says so when the script does not end'],
};

/** Numbers that hold nothing back. */
const NO_BOUND: Readonly<Record<string, string>> = {
  'deployment runtime.kubernetes.memory_request_mb': 'a request; what is needed beyond it is taken',
  'deployment runtime.kubernetes.cpu_request_percent': 'a request; what is needed beyond it is taken',
  'deployment runtime.limits.cpu_percent': 'no bound',
  'deployment warm_pool.size': 'no pool',
  'deployment host.capacity': 'that of the deployment',
  'deployment proxy.port': 'a free one',
  'deployment proxy_config.model_list.*.weight': 'a share',
  'deployment proxy_config.router_settings.num_retries': 'none',
  'job conversations.priority': 'an order',
  'job defaults.priority': 'an order',
};

describe('a batch larger than the default of', () => {
  it.each(Object.entries(PLAYED))('%s', (_, play) => play());
});

/** `default` below `properties`, as a dotted path without the words of JSON Schema. */
function amountsOf(name: 'job' | 'deployment'): string[] {
  const schema = JSON.parse(readFileSync(path.join(ROOT, 'schema', `${name}.v1.json`), 'utf8')) as unknown;
  const found = new Set<string>();
  const visit = (value: unknown, at: readonly string[], parent: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const standard = (value as { readonly default?: unknown }).default;
    if (parent !== 'properties' && isAmount(standard)) found.add([name, at.join('.')].join(' '));
    for (const [key, inner] of Object.entries(value)) {
      const isName = parent === 'properties';
      const isPattern = parent === 'patternProperties';
      visit(inner, isName ? [...at, key] : isPattern ? [...at, '*'] : at, isName || isPattern ? '' : key);
    }
  };
  visit(schema, [], '');
  return [...found].sort();
}

function isAmount(value: unknown): boolean {
  return (
    typeof value === 'number' ||
    (typeof value === 'string' && /^\d+(\.\d+)?(ms|s|m|h|d|[hm]\d+[ms])?$/.test(value))
  );
}

describe('an amount that has a default', () => {
  const known = { ...PLAYED, ...ELSEWHERE, ...SMALLER, ...NO_BOUND };

  it.each(['job', 'deployment'] as const)('in the schema of a %s is met, or bounds nothing', (name) => {
    expect(amountsOf(name).filter((key) => !Object.hasOwn(known, key))).toEqual([]);
  });

  it.each(Object.entries({ ...ELSEWHERE, ...SMALLER }))(
    '%s is met where it is said to be',
    (_, [file, title]) => {
      expect(readFileSync(path.join(ROOT, 'test', `${file}.test.ts`), 'utf8')).toContain(title);
    },
  );
});
