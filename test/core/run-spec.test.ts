/** What a run takes from its plan: slots, stages, order; and how attempts are judged and their work is timed. */
import { describe, expect, it } from 'vitest';
import { runId, userId } from '../../core/ids.ts';
import type { Plan, PlanNeed } from '../../core/plan/plan.ts';
import { leaderOf, runSpec } from '../../core/run/run-spec.ts';
import { endingOf, type Evidence } from '../../core/run/failure-class.ts';
import type { RunSpec } from '../../core/run/state.ts';
import { item, plan } from '../conformance/script-parts.ts';
import * as at from './run-life.ts';

const specOf = (count: number, change: Partial<Plan>): RunSpec =>
  runSpec(plan(count, change), { runId: runId('r'), userId: userId('u') });
const need = (entry: string, each = false): readonly PlanNeed[] => [{ entry, outcome: 'succeeded', each }];

describe('who leads an item', () => {
  const run = { machine: 'run', id: 'r' };
  const shard = (number: number) => ({ machine: 'shard', id: `r.${number}` });

  it.each([
    ['its run', plan(500, {}), 499, run],
    ['a shard of a larger run', plan(501, {}), 500, shard(1)],
    [
      'a shard of a small run that may grow',
      plan(1, { items: [item(0, { awaits: { entry: 'a', file: 'rows.jsonl' } })] }),
      0,
      shard(0),
    ],
  ])('is %s', (_who, of, index, leader) => {
    expect(leaderOf(of.items, runId('r'), index)).toEqual(leader);
  });
});

describe('the beginning of a run', () => {
  it('is that of a plain job when the plan limits nothing', () => {
    const { rules, items } = specOf(1, {});
    for (const field of ['slots', 'startEveryMs', 'rampMs', 'adaptive', 'canary'])
      expect(rules).not.toHaveProperty(field);
    for (const field of ['slots', 'groups', 'needs']) expect(items[0]).not.toHaveProperty(field);
  });

  it('names the slots that each item takes, by field, tag, axis and value', () => {
    const items = [
      item(0, { model: 'strong', tags: { owner: 'ann' }, matrix: { os: 'linux' } }),
      item(1, { model: 'fast', tags: {}, matrix: { os: 'mac' } }),
    ];
    const per = [
      { field: 'model', name: null, value: 'strong', max: 3 },
      { field: 'tags', name: 'owner', value: null, max: 1 },
      { field: 'matrix', name: 'os', value: null, max: 2 },
      { field: 'repo', name: null, value: null, max: 1 },
    ] as const;
    const spec = specOf(2, { items, admission: { concurrency: 2, per } });
    expect(spec.rules.slots).toEqual({ 'model.strong': 3, 'tags.owner': 1, 'matrix.os': 2, repo: 1 });
    expect(spec.items.map(({ slots }) => slots)).toEqual([
      [
        { slot: 'model.strong', value: 'strong' },
        { slot: 'tags.owner', value: 'ann' },
        { slot: 'matrix.os', value: 'linux' },
      ],
      [{ slot: 'matrix.os', value: 'mac' }],
    ]);
  });

  it('makes one group of all that are waited for, and one for each combination when asked', () => {
    const matrix = (os: string) => ({ matrix: { os } });
    const items = [
      item(0, { entry: 'plan', ...matrix('a') }),
      item(1, { entry: 'plan', ...matrix('b') }),
      item(2, { entry: 'do', ...matrix('a'), needs: need('plan', true) }),
      item(3, { entry: 'do', ...matrix('b'), needs: need('plan', true) }),
      item(4, { entry: 'all', needs: need('plan') }),
      item(5, { entry: 'all', needs: need('plan') }),
    ];
    const spec = specOf(6, { items });
    const waited = spec.items.map(({ needs = [] }) =>
      needs.map(({ group }) =>
        spec.items.flatMap((one, index) => (one.groups?.includes(group) === true ? [index] : [])),
      ),
    );
    expect(waited).toEqual([[], [], [[0]], [[1]], [[0, 1]], [[0, 1]]]);
    expect(spec.items[4]?.needs).toEqual(spec.items[5]?.needs);
  });

  it('begins by position when the job says so, whatever the priorities are', () => {
    const items = [item(0, { priority: 1 }), item(1, { priority: 5 })];
    const priorities = (change: Partial<Plan>): readonly number[] =>
      specOf(2, { items, ...change }).items.map(({ priority }) => priority);
    expect(priorities({})).toEqual([1, 5]);
    expect(priorities({ admission: { concurrency: 1, order: { by: 'position' } } })).toEqual([0, 0]);
  });
});

describe('how an attempt ends', () => {
  const rests = (status: 'ERROR' | 'STUCK' | 'FINISHED', detail: string | null): Evidence => ({
    seen: 'agent_rests',
    status,
    detail,
  });

  it.each([
    [rests('FINISHED', null), 'succeeded', null],
    [rests('STUCK', 'a loop'), 'failed', 'stuck'],
    [rests('ERROR', 'InternalError: it broke'), 'failed', 'agent_error'],
    [rests('ERROR', null), 'failed', 'agent_error'],
    [rests('ERROR', 'LLMQuotaError: Cannot complete chat: status 402: paid up'), 'failed', 'quota'],
    [rests('ERROR', 'LLMBadRequestError: status 429: insufficient_quota'), 'failed', 'quota'],
    [
      rests('ERROR', 'LLMRateLimitError: Cannot complete chat: status 429: slow down'),
      'failed',
      'rate_limited',
    ],
    [rests('ERROR', 'LLMBadRequestError: budget_exceeded'), 'failed', 'budget'],
    [rests('ERROR', 'LLMServiceUnavailableError: status 503'), 'failed', 'infra'],
    [rests('ERROR', 'LLMAuthenticationError: status 401: no'), 'failed', 'refused'],
    [
      rests('ERROR', 'LLMNotFoundError: Cannot complete chat: status 404: no such model'),
      'failed',
      'refused',
    ],
    [rests('ERROR', 'APIError: gateway_host_unknown'), 'failed', 'refused'],
    [rests('ERROR', 'LLMBadRequestError: status 400: x/y is not a valid model ID'), 'failed', 'refused'],
    [
      rests('ERROR', 'LLMBadRequestError: status 400: Invalid model name passed in model=x'),
      'failed',
      'refused',
    ],
    [rests('ERROR', 'LLMBadRequestError: status 400: this model has no such tool'), 'failed', 'agent_error'],
    [{ seen: 'limit_reached', limit: 'usd' }, 'limit_reached', null],
    [{ seen: 'limit_reached', limit: 'working' }, 'limit_reached', null],
    [{ seen: 'limit_reached', limit: 'no_progress' }, 'failed', 'stuck'],
    [{ seen: 'start_failed', detail: 'concurrency_limit_reached: full' }, 'failed', 'rate_limited'],
    [{ seen: 'start_failed', detail: 'clone_failed: no' }, 'failed', 'infra'],
    [
      { seen: 'start_failed', detail: 'repository_failed: Cannot clone: remote: Repository not found.' },
      'failed',
      'refused',
    ],
    [{ seen: 'start_failed', detail: 'repository_failed: Cannot clone: early EOF' }, 'failed', 'infra'],
    [{ seen: 'sandbox_lost', status: 'MISSING', detail: null }, 'failed', 'infra'],
    [{ seen: 'deadline_passed' }, 'failed', 'timeout'],
    [{ seen: 'cancelled' }, 'cancelled', 'cancelled'],
  ] as const)('%j: %s, %s', (evidence, outcome, failureClass) => {
    const ending = endingOf(evidence);
    expect(ending).toMatchObject({ outcome, failureClass });
    if ('detail' in evidence && evidence.seen !== 'sandbox_lost') expect(ending.detail).toBe(evidence.detail);
  });
});

describe('working time', () => {
  const limited = { workingMs: 60_000 };

  it('stands still while the sandbox is paused, and while the agent waits for its rate limit', () => {
    const life = new at.RunLife({}, [limited]).works();
    life.now += 39_000;
    life.notice({ sandboxStatus: 'PAUSED', pauseReason: 'idle' });
    expect(life.item()).toMatchObject({ workedMs: 40_000, workingSince: null });
    life.now += 3_600_000;
    life.notice({});
    life.now += 9_000;
    life.notice({ sandboxStatus: 'PAUSED', pauseReason: 'rate_limit', executionStatus: 'PAUSED' });
    life.now += 3_600_000;
    life.notice({});
    const { now } = life;
    expect(life.timer().now - now).toBe(10_000);
    expect(life.item()).toMatchObject({ ending: { outcome: 'limit_reached', detail: 'working' } });
  });

  it('begins anew with each attempt, when its conversation is ready', () => {
    const retry = [{ on: ['agent_error'], attempts: 1, initialMs: 0, factor: 1, maxMs: 0 }] as const;
    const life = new at.RunLife({ retry }, [limited]).works();
    life.now += 50_000;
    life.rests('ERROR').collected();
    expect(life.item().workedMs).toBe(0);
    life.works();
    const { now } = life;
    expect(life.timer().now - now).toBe(60_000);
  });
});

describe('a quota that is used up', () => {
  it('trips the breaker within its count, and burns no further retries', () => {
    const breaker = { on: ['quota'], windowMs: 300_000, count: 2 } as const;
    const retry = [{ on: ['quota'], attempts: 5, initialMs: 1_000, factor: 1, maxMs: 1_000 }] as const;
    const life = new at.RunLife({ concurrency: 2, breaker, retry }, [{}, {}, {}, {}]);
    const detail = 'LLMQuotaError: Cannot complete chat: status 402: paid up';
    for (const index of [0, 1]) {
      life.works(index).notice({ executionStatus: 'ERROR', settled: true, detail }, index);
      life.collected(1, index);
    }
    expect(life.its).toMatchObject({ mode: 'paused', reason: 'breaker:quota' });
    expect(life.its.items.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 0]);
  });
});

describe('the host that a job names', () => {
  const POOL = {
    size: 2,
    maxPerSandbox: 1,
    recycleAfter: null,
    recycleAgeMs: null,
    onFull: 'wait',
    warm: true,
  } as const;
  const placement = { strategy: null, sandboxId: null, host: 'gpu-1', labels: { gpu: 'a100' } } as const;

  it('is known to a run only for the sandboxes that it makes ahead', () => {
    expect(specOf(1, { placement }).rules).not.toHaveProperty('poolHost');
    const { rules } = specOf(1, { placement: { ...placement, pool: POOL } });
    expect(rules.poolHost).toEqual({ name: 'gpu-1', labels: { gpu: 'a100' } });
    const anywhere = specOf(1, { placement: { strategy: null, sandboxId: null, pool: POOL } });
    expect(anywhere.rules).not.toHaveProperty('poolHost');
  });
});
