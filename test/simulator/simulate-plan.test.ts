/** What a plan would do: timelines, limits, cost, peak; and 30 days of 100 conversations in no time. */
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_DEFAULT, MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { simulateBounded, simulatePlan } from '../../simulator/simulate-plan.ts';
import { agent, item, plan, POLICY } from '../conformance/script-parts.ts';
import { question } from './questions.ts';

describe('simulatePlan()', () => {
  it('tells when each conversation is queued, starts, works and ends, at what cost, on how many sandboxes', () => {
    const asked = question(3, { admission: { concurrency: 2 } });
    const answer = simulatePlan({ ...asked, checks: true });
    expect(answer).toMatchObject({ phase: 'finished', reason: null, sandboxesPeak: 3, violations: [] });
    const last = answer.conversations[2];
    expect(last?.stretches.map(({ as }) => as)).toEqual(['queued', 'starting', 'working', 'ended']);
    expect(last).toMatchObject({ key: 'item-2', attempts: 1, outcome: 'succeeded', met: [] });
    expect(answer.costNanoUsd).toBe(3 * 1_425_000_000);
    expect(answer.makespanMs).toBeGreaterThan(36 * MINUTE_MS);
    expect(answer.makespanMs).toBeLessThan(38 * MINUTE_MS);
  });

  it('lists who meets the idle pause, the cap of a session, the capacity and the budget', () => {
    const met = (change: Partial<Parameters<typeof simulatePlan>[0]>) =>
      simulatePlan({ ...question(2), checks: true, ...change }).conversations.map((one) => one.met);
    const quiet = agent({ quiet: { share: 1, length: fixed(25 * MINUTE_MS), leased: 0 } });
    expect(met({ models: quiet })).toEqual([['idle_pause'], ['idle_pause']]);
    const long = agent({ work: fixed(20 * HOUR_MS) });
    expect(met({ models: long })).toEqual([['session_cap'], ['session_cap']]);
    const small = { ...POLICY, capacity: { ...POLICY.capacity, installationMax: 1 } };
    expect(met({ policy: small })).toEqual([[], ['capacity']]);
    const budget = { nanoUsd: 1_500_000_000, reserveNanoUsd: 1_000_000_000, mode: 'enforce' } as const;
    expect(met({ plan: plan(2, { budget }) })).toEqual([[], ['budget']]);
    const items = [item(0, { limits: { workingMs: null, turns: null, nanoUsd: 1_000_000 } })];
    expect(met({ plan: plan(1, { items }) })).toEqual([['budget']]);
  });

  it('stops at the end of its time and shows things as they stand', () => {
    const answer = simulatePlan({ ...question(1), untilMs: 5 * MINUTE_MS });
    expect(answer).toMatchObject({ phase: 'running', makespanMs: null });
    expect(answer.conversations[0]).toMatchObject({ outcome: null, costNanoUsd: 0 });
  });

  it('plays agents by rule of their keys', () => {
    const agentRules = [{ keys: 'item-1*', behaviour: { ...MODELS_STEADY.agent, work: fixed(2 * HOUR_MS) } }];
    const answer = simulatePlan({ ...question(2), models: { ...MODELS_STEADY, agentRules } });
    const ends = answer.conversations.map(
      ({ stretches }) => (stretches.at(-1)?.from ?? 0) - 1_700_000_000_000,
    );
    expect(ends.map((ms) => Math.floor(ms / HOUR_MS))).toEqual([0, 2]);
  });

  it('plays 100 conversations over 30 days in well under a second of this process', () => {
    const cleanup = { sandbox: 'keep', conversation: 'keep', onCollectFailure: 'keep' } as const;
    const asked = { ...question(100, { cleanup }), models: MODELS_DEFAULT };
    simulatePlan(asked);
    const before = process.cpuUsage();
    const answer = simulatePlan(asked);
    const { user, system } = process.cpuUsage(before);
    expect(answer.endedAt - asked.startAt).toBe(30 * DAY_MS);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])('breaks no invariant with seed %i', (seed) => {
    const retry = [
      {
        on: ['infra', 'stuck', 'rate_limited'] as const,
        attempts: 2,
        initialMs: MINUTE_MS,
        factor: 2,
        maxMs: HOUR_MS,
      },
    ];
    const policy = {
      ...POLICY,
      capacity: { ...POLICY.capacity, installationMax: 4 },
      onFull: 'queue' as const,
    };
    const placement = {
      strategy: seed % 2 === 0 ? ('FEWEST_CONVERSATIONS' as const) : null,
      sandboxId: null,
    };
    const failures = {
      ...MODELS_DEFAULT.failures,
      stopSandbox: { share: 0.1 },
      archiveWorkspace: { share: 0.1 },
      deliverItem: { share: 0.1 },
    };
    const models = { ...MODELS_DEFAULT, failures };
    const answer = simulatePlan({
      ...question(20, { retry, placement }),
      policy,
      models,
      seed,
      checks: true,
    });
    expect(answer.violations).toEqual([]);
    expect(answer.phase).toBe('finished');
  });
});

describe('simulateBounded()', () => {
  const asked = { ...question(20), models: MODELS_DEFAULT, checks: true, curves: true };

  it('answers as simulatePlan() while it may go on', () => {
    expect(simulateBounded(asked, () => true)).toEqual({ answer: simulatePlan(asked), cutAtMs: null });
  });

  it('stops when it may not, and answers as simulatePlan() up to there', () => {
    for (const questions of [0, 1, 5, 12]) {
      let left = questions;
      const { answer, cutAtMs } = simulateBounded(asked, () => (left -= 1) >= 0);
      expect(cutAtMs).toBeGreaterThan(0);
      expect((cutAtMs ?? 1) % MINUTE_MS).toBe(0);
      expect(answer).toEqual(simulatePlan({ ...asked, untilMs: cutAtMs ?? 0 }));
    }
  });
});
