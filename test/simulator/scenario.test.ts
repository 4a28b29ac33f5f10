/** The player of scenarios: observations, what each kind of expectation means, what happens when, how failures read. */
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { ScenarioAction } from '../../dsl/scenario/scenario.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { plan, POLICY } from '../conformance/script-parts.ts';
import { expectation, expression, impossible, playing, scenario, seenAt, SPAN } from './scenario-parts.ts';

const always = { kind: 'always' } as const;
const never = { kind: 'never' } as const;
const end = { kind: 'end' } as const;
const at = (atMs: number, withinMs = 0) => ({ kind: 'at', atMs, withinMs }) as const;
const eventually = (withinMs: number) => ({ kind: 'eventually', withinMs }) as const;

describe('hosts of a policy', () => {
  const POLICY_OF_HOSTS = {
    hosts: {
      strategy: 'spread',
      leaseMs: MINUTE_MS,
      silentMs: 5 * MINUTE_MS,
      hosts: [
        { name: 'alpha', capacity: 1 },
        { name: 'beta', capacity: 1, labels: { zone: 'b' } },
      ],
    },
  } as const;
  const lost = { do: 'host', host: 'alpha', is: 'lost', forMs: HOUR_MS } as const;

  it('have one sandbox each, and what lives on one that is lost begins again elsewhere', () => {
    const seen = seenAt(10 * MINUTE_MS, { policy: POLICY_OF_HOSTS });
    expect(seen.sandboxes.map(({ host }) => host).sort()).toEqual(['alpha', 'beta']);
    const { plan: played } = playing({
      policy: POLICY_OF_HOSTS,
      events: [{ atMs: 5 * MINUTE_MS, action: lost, span: SPAN }],
      expectations: [
        expectation(
          at(10 * MINUTE_MS),
          expression('up', (now) => now.capacity.in_use === 2n),
        ),
        // The other host is silent from the fifth minute on; its lease is over a minute later.
        expectation(
          at(12 * MINUTE_MS),
          expression(
            'missing',
            (now) => now.sandboxes.filter(({ status }) => status === 'MISSING').length === 1,
          ),
        ),
        expectation(
          end,
          expression('all', (now) => now.convs.every(({ outcome }) => outcome === 'succeeded')),
        ),
      ],
    });
    expect(played.violations).toEqual([]);
  });

  it('are those that the job asks for', () => {
    const pinned = plan(2);
    const seen = seenAt(10 * MINUTE_MS, {
      policy: POLICY_OF_HOSTS,
      plan: { ...pinned, placement: { ...pinned.placement, labels: { zone: 'b' } } },
    });
    expect(seen.sandboxes.filter(({ status }) => status === 'RUNNING').map(({ host }) => host)).toEqual([
      'beta',
    ]);
  });

  it('have nothing happen to them where there are none', () => {
    const event = { atMs: MINUTE_MS, action: lost, span: SPAN };
    expect(playing({ events: [event] }).missed).toEqual([event]);
  });
});

describe('the observation', () => {
  it('shows conversations, sandboxes, capacity and the run as they stand', () => {
    const seen = seenAt(10 * MINUTE_MS);
    expect(
      seen.convs.map(({ key, phase, status, execution_status }) => [key, phase, status, execution_status]),
    ).toEqual([
      ['item-0', 'working', 'RUNNING', 'RUNNING'],
      ['item-1', 'working', 'RUNNING', 'RUNNING'],
    ]);
    expect(seen.elapsed_ms).toBe(10 * MINUTE_MS);
    expect(
      seen.sandboxes.map(({ id, conversations, generation }) => [id, conversations, generation]),
    ).toEqual(seen.convs.map(({ sandbox }) => [sandbox, 1n, 1n]));
    expect(seen.sandboxes[0]?.session_ms).toBeGreaterThan(9 * MINUTE_MS);
    expect(seen.capacity).toEqual({ in_use: 2n, max: 100n, peak: 2n });
    expect(seen.run).toMatchObject({
      phase: 'running',
      mode: 'normal',
      waiting: 0n,
      in_flight: 2n,
      ended: 0n,
    });
    expect(seen.summary).toMatchObject({ makespan_ms: 10 * MINUTE_MS, cost_usd: 0, sandboxes: 2n });
  });

  it('tells a pause by the end of the session from work, and counts it', () => {
    const seen = seenAt(12 * HOUR_MS + MINUTE_MS, { plan: plan(1) });
    // Its run goes on with it at once, so that the pause is over a minute later.
    expect(seen.summary).toMatchObject({ paused_session_limit: 1n, paused_idle: 0n, resumed: 1n });
    expect(seen.convs[0]).toMatchObject({ status: 'RUNNING', attempts: 1n, terminal: false });
    expect(seen.sandboxes[0]).toMatchObject({ generation: 2n, pause_reason: '' });
  });

  it('tells the end: outcome, cost, results kept, makespan', () => {
    const seen = seenAt(HOUR_MS);
    expect(seen.convs[1]).toMatchObject({
      phase: 'ended',
      terminal: true,
      outcome: 'succeeded',
      collected: true,
      cost_usd: 1.425,
      status: 'MISSING',
    });
    expect(seen.convs[0]).toMatchObject({ terminal: false, collected: false, cost_usd: 0, outcome: '' });
    expect(seen.budget).toEqual({ spent_usd: 1.425, reserved_usd: 0, limit_usd: Infinity });
    const last = seenAt(30 * HOUR_MS);
    expect(last.summary).toMatchObject({ succeeded: 2n, failed: 0n, retried: 0n });
    expect(last.summary.makespan_ms).toBeGreaterThan(13 * HOUR_MS);
    expect(last.summary.makespan_ms).toBeLessThan(13 * HOUR_MS + 5 * MINUTE_MS);
  });

  it('shows what is queued and reserved before and while there is a budget', () => {
    const budget = { nanoUsd: 5_000_000_000, reserveNanoUsd: 2_000_000_000, mode: 'enforce' } as const;
    const change = { plan: plan(2, { admission: { concurrency: 1 }, budget }) };
    const seen = seenAt(MINUTE_MS, change);
    expect(seen.budget).toEqual({ spent_usd: 0, reserved_usd: 2, limit_usd: 5 });
    expect(seen.convs[1]).toMatchObject({ phase: 'queued', id: '', sandbox: '', status: '', attempts: 0n });
    expect(seen.run).toMatchObject({ waiting: 1n, in_flight: 1n });
  });
});

describe('an expectation', () => {
  const ended = expression('item-1 ended', ({ convs }) => convs[1]?.terminal === true);
  const running = expression('running', ({ run }) => run.phase === 'running');
  const late = expression('late', (seen) => seen.elapsed_ms >= 10 * HOUR_MS);

  it.each([
    ['at: holds at its instant', at(HOUR_MS), ended, null],
    ['at: fails at its instant', at(5 * MINUTE_MS), ended, 5 * MINUTE_MS],
    ['at within: holds on the way', at(10 * MINUTE_MS, 20 * MINUTE_MS), ended, null],
    ['at within: fails at the end of it', at(MINUTE_MS, 10 * MINUTE_MS), ended, 11 * MINUTE_MS],
    ['at: what changes with time alone is asked at both ends', at(9 * HOUR_MS, HOUR_MS), late, null],
    ['at: after the clock stopped', at(40 * HOUR_MS), ended, 30 * HOUR_MS],
    ['eventually: holds in time', eventually(HOUR_MS), ended, null],
    ['eventually: too late', eventually(10 * MINUTE_MS), ended, 10 * MINUTE_MS],
    ['end: holds', end, ended, null],
    ['end: fails', end, running, 30 * HOUR_MS],
  ])('%s', (_name, when, that, failedAfterMs) => {
    const [result] = playing({ expectations: [expectation(when, that)] }).expectations;
    expect(result).toMatchObject({ held: failedAfterMs === null, failedAfterMs });
  });

  it('always: fails at the first step after which it does not hold', () => {
    const one = expression('one at once', ({ capacity }) => capacity.in_use <= 1n);
    const all = expression('few', ({ capacity }) => capacity.in_use <= 2n);
    const [few, first] = playing({
      expectations: [expectation(always, all), expectation(always, one)],
    }).expectations;
    expect(few).toMatchObject({ held: true, values: [], events: [] });
    expect(first?.held).toBe(false);
    expect(first?.failedAfterMs).toBeLessThan(MINUTE_MS);
  });

  it('never: sees what is true only between two instants of a clock', () => {
    const paused = expression('paused', ({ sandboxes }) =>
      sandboxes.some((one) => one.pause_reason === 'session_limit'),
    );
    const [result] = playing({ expectations: [expectation(never, paused)] }).expectations;
    expect(result?.held).toBe(false);
    expect(Math.floor((result?.failedAfterMs ?? 0) / MINUTE_MS)).toBe(12 * 60);
  });

  it('is a failure with a reason when it cannot be evaluated, whatever its kind', () => {
    const kinds = [at(HOUR_MS), always, never, eventually(HOUR_MS), end];
    const results = playing({
      expectations: kinds.map((kind) => expectation(kind, impossible('by_key("x")'))),
    });
    for (const { held, reason, values } of results.expectations) {
      expect(held).toBe(false);
      expect(reason).toBe('Cannot evaluate "by_key("x")": there is no such key');
      expect(values).toEqual([]);
    }
  });

  it('tells of a failure its operands and the last events of whom it names', () => {
    const that = expression("by_key('item-1').terminal", ({ convs }) => convs[1]?.terminal === true, {
      "by_key('item-1').phase": ({ convs }) => convs[1]?.phase,
    });
    const [result] = playing({ expectations: [expectation(at(5 * MINUTE_MS), that)] }).expectations;
    expect(result?.values).toEqual([{ source: "by_key('item-1').phase", value: 'working' }]);
    expect(result?.expectation.span).toEqual(SPAN);
    const entities = new Set(result?.events.map(({ entity }) => entity));
    expect(result?.events).toHaveLength(5);
    const seen = seenAt(5 * MINUTE_MS).convs[1];
    expect([...entities].sort()).toEqual([`conversation/${seen?.id}`, `sandbox/${seen?.sandbox}`]);
    expect(result?.events.at(-1)?.at).toBeLessThanOrEqual(1_700_000_000_000 + 5 * MINUTE_MS);
  });

  it('shows the last mover when it names nobody', () => {
    const [result] = playing({
      expectations: [expectation(at(20 * HOUR_MS), impossible('nobody'))],
    }).expectations;
    expect(new Set(result?.events.map(({ entity }) => entity)).size).toBe(1);
  });
});

describe('what happens when', () => {
  const event = (atMs: number, action: ScenarioAction) => ({ atMs, action, span: SPAN });
  const item0 = { key: 'item-0' };
  const all = { pick: 'all' } as const;

  it('follows everything else of its instant', () => {
    const events = [event(HOUR_MS, { do: 'pause', sandbox: item0 })];
    const seen = seenAt(HOUR_MS + MINUTE_MS, { events });
    expect(seen.convs[0]).toMatchObject({ status: 'PAUSED', pause_reason: 'user' });
    expect(seen.summary.paused_user).toBe(1n);
  });

  it.each<[string, ScenarioAction, object]>([
    ['a crash', { do: 'crash', sandbox: item0 }, { attempts: 1n, status: 'MISSING', outcome: 'failed' }],
    ['a loss', { do: 'lose', sandbox: { pick: 'oldest' } }, { status: 'MISSING', outcome: 'failed' }],
    ['a deletion', { do: 'delete', sandbox: { pick: 'newest' } }, { status: 'MISSING', outcome: 'failed' }],
    ['a disconnection', { do: 'disconnect', sandbox: all }, { status: 'RUNNING', terminal: false }],
    ['a removal', { do: 'remove', conversation: item0 }, { outcome: 'failed' }],
    ['an interruption', { do: 'interrupt', conversation: all }, { execution_status: 'PAUSED' }],
    ['a message', { do: 'message', conversation: item0, text: 'more' }, { execution_status: 'RUNNING' }],
    ['an access', { do: 'access', conversation: { pick: 'longest_idle' } }, { execution_status: 'RUNNING' }],
    ['a cancellation', { do: 'cancel_run' }, { outcome: 'cancelled' }],
    ['a drain', { do: 'drain_run' }, { terminal: false }],
    [
      'a limit',
      { do: 'gateway', status: 429, forMs: HOUR_MS },
      { execution_status: 'PAUSED', status: 'PAUSED' },
    ],
    ['a refusal', { do: 'gateway', status: 401, forMs: HOUR_MS }, { outcome: 'failed' }],
    ['an outage', { do: 'gateway', status: 503, forMs: HOUR_MS }, { outcome: 'failed' }],
    ['a short outage', { do: 'gateway', status: 503, forMs: MINUTE_MS }, { execution_status: 'RUNNING' }],
  ])('%s reaches a conversation', (_name, action, expected) => {
    const seen = seenAt(2 * HOUR_MS + 20 * MINUTE_MS, { events: [event(2 * HOUR_MS, action)] });
    expect(seen.convs[0]).toMatchObject(expected);
  });

  it('brings a sandbox back, and more conversations at once', () => {
    const events = [
      event(2 * HOUR_MS, { do: 'pause', sandbox: item0 }),
      event(3 * HOUR_MS, { do: 'resume', sandbox: { pick: 'all' } }),
      event(MINUTE_MS, { do: 'concurrency', value: 1 }),
    ];
    expect(seenAt(3 * HOUR_MS + MINUTE_MS, { events }).convs[0]).toMatchObject({ status: 'RUNNING' });
    const three = { plan: plan(3), events };
    expect(seenAt(HOUR_MS, three).convs[2]?.phase).toBe('queued');
    expect(seenAt(HOUR_MS, { plan: plan(3) }).convs[2]?.phase).not.toBe('queued');
  });

  it('lists what found nobody', () => {
    const events = [event(20 * HOUR_MS, { do: 'crash', sandbox: { pick: 'oldest' } })];
    expect(playing({ events }).missed).toEqual(events);
    expect(
      playing({ events: [event(HOUR_MS, { do: 'crash', sandbox: { pick: 'oldest' } })] }).missed,
    ).toEqual([]);
  });
});

describe('the setting', () => {
  it('is the policy of the file over that of the deployment', () => {
    const quiet = {
      default: { gaps: [{ atMs: 5 * MINUTE_MS, lengthMs: 10 * MINUTE_MS, leased: false }] },
      rules: [],
    };
    const pauses = (idleTimeMs: number | null) =>
      seenAt(HOUR_MS, { model: quiet, policy: { idleTimeMs } }).summary.paused_idle;
    expect(pauses(5 * MINUTE_MS)).toBe(2n);
    expect(pauses(9 * MINUTE_MS)).toBe(2n);
    expect(pauses(10 * MINUTE_MS)).toBe(0n);
    expect(pauses(null)).toBe(0n);
    expect(seenAt(HOUR_MS, { policy: { sandboxesMax: 1, onFull: 'queue' } }).capacity).toEqual({
      in_use: 1n,
      max: 1n,
      peak: 1n,
    });
  });

  it('keeps a gap that has a lease, and one that comes after a pause', () => {
    const gaps = [
      { atMs: 5 * MINUTE_MS, lengthMs: 30 * MINUTE_MS, leased: true },
      { atMs: 6 * MINUTE_MS, lengthMs: 30 * MINUTE_MS, leased: false },
      { atMs: 10 * MINUTE_MS, lengthMs: 30 * MINUTE_MS, leased: false },
    ];
    const change = { plan: plan(1), model: { default: { gaps }, rules: [] } };
    expect(seenAt(40 * MINUTE_MS, change).summary.paused_idle).toBe(0n);
    expect(seenAt(3 * HOUR_MS, change).summary).toMatchObject({ paused_idle: 2n, succeeded: 1n });
  });

  it('prices by model, and lets nothing fail that the file does not', () => {
    const prices = { m: { inputFemtoUsd: 0n, outputFemtoUsd: 0n } };
    expect(seenAt(HOUR_MS, { prices }).convs[1]?.cost_usd).toBe(0);
    const failing = playing({}, { defaults: { ...defaultsThatFail() } });
    expect(failing.plan.conversations.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
  });
});

describe('faults of a scenario', () => {
  const faults = { runtime_killed: 0.5 };

  it('strike as often as the file says, and never when it says nothing', () => {
    const plain = playing().plan;
    expect(playing({ faults: { runtime_killed: 0 } }).plan.hash).toBe(plain.hash);
    const struck = playing({ faults }).plan;
    expect(struck.hash).not.toBe(plain.hash);
    expect(struck.conversations.map(({ outcome }) => outcome)).toContain('failed');
    expect(struck.violations).toEqual([]);
    expect(playing({ faults }).plan.hash).toBe(struck.hash);
  });

  it('can be seen by expectations', () => {
    const unhurt = expression('no error', ({ sandboxes }) =>
      sandboxes.every(({ status }) => status !== 'ERROR'),
    );
    expect(playing({ faults, expectations: [expectation(always, unhurt)] }).expectations[0]?.held).toBe(
      false,
    );
    expect(playing({ expectations: [expectation(always, unhurt)] }).expectations[0]?.held).toBe(true);
  });
});

describe('playScenario()', () => {
  it('gives the same answer for the same seed, and takes another seed or time instead', () => {
    const change = {
      model: { default: { duration: { kind: 'uniform', min: 0, max: HOUR_MS } as const }, rules: [] },
    };
    const hash = (seed?: number) => playing(change, seed === undefined ? {} : { seed }).plan.hash;
    expect(hash()).toBe(hash());
    expect(hash(2)).not.toBe(hash());
    expect(playing({}, { seed: 9, untilMs: HOUR_MS })).toMatchObject({ seed: 9, plan: { phase: 'running' } });
  });

  it('does not play otherwise for being watched', () => {
    const watched = playing({
      expectations: [
        expectation(
          always,
          expression('true', () => true),
        ),
      ],
    });
    expect(watched.plan.hash).toBe(playing().plan.hash);
    expect(watched.plan.violations).toEqual([]);
    expect(scenario().expectations).toEqual([]);
  });
});

function defaultsThatFail() {
  const { policy, models } = { policy: POLICY, models: MODELS_STEADY };
  return {
    policy,
    models: { ...models, checkFails: 1, failures: { createSandbox: { share: 1 } }, verify: fixed(1) },
  };
}
