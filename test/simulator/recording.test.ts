/** From the facts of a store to a recording, and from a recording to a play that takes what the run took. */
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import {
  exactKeys,
  fitDistribution,
  fitModels,
  notRecorded,
  recordedChecks,
} from '../../simulator/recording/fit-models.ts';
import {
  recordingOf,
  type RecordedConversation,
  type Recording,
} from '../../simulator/recording/recording.ts';
import type { AttemptFacts, ItemFacts, RunFacts } from '../../simulator/recording/run-facts.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { item, plan } from '../conformance/script-parts.ts';
import { question } from './questions.ts';

const T0 = 1_700_000_000_000;

function attempt(key: string, change: Partial<AttemptFacts> = {}): AttemptFacts {
  return {
    key,
    createdAt: T0,
    startFailed: false,
    executionStatus: 'FINISHED',
    restedAt: T0 + 70_000,
    firstEventAt: T0 + 9_000,
    firstMessageAt: T0 + 10_000,
    sandbox: {
      id: `box-${key}`,
      createdAt: T0 + 1_000,
      generation: 1,
      stopMs: 3_000,
      stoppedAt: T0 + 79_000,
    },
    spend: { inputTokens: 900, outputTokens: 30, costNanoUsd: 5_000 },
    ...change,
  };
}

function itemFacts(key: string, change: Partial<ItemFacts> = {}): ItemFacts {
  const ended = { outcome: 'succeeded', admittedAt: T0 + 900, endedAt: T0 + 75_000 } as const;
  return { key, attempts: 1, hasCheck: false, costNanoUsd: 5_000, ...ended, ...change };
}

const facts = (items: readonly ItemFacts[], attempts: readonly AttemptFacts[]): RunFacts => ({
  job: 'demo',
  planHash: 'h',
  items,
  attempts,
});

describe('recordingOf()', () => {
  it('measures boot, work and what came after it', () => {
    expect(recordingOf(facts([itemFacts('a')], [attempt('a')]))).toEqual({
      kind: 'recording',
      format: 1,
      job: 'demo',
      planHash: 'h',
      bootsMs: [8_000],
      stopsMs: [3_000],
      // 100 to its sandbox, 1,000 from the first event to the message, 1,000 from its end to the stop.
      handoversMs: [2_100],
      starts: { asked: 1, failed: 0 },
      conversations: [
        {
          key: 'a',
          attempts: 1,
          workMs: 60_000,
          outcome: 'FINISHED',
          afterMs: 5_000,
          checkPassed: null,
          inputTokens: 900,
          outputTokens: 30,
          costNanoUsd: 5_000,
          resumes: 0,
        },
      ],
    });
  });

  it('takes the last attempt, and its own calls as its cost', () => {
    const first = attempt('a', { executionStatus: 'ERROR' });
    const last = attempt('a', {
      createdAt: T0 + HOUR_MS,
      firstMessageAt: T0 + HOUR_MS,
      restedAt: T0 + 2 * HOUR_MS,
      spend: { inputTokens: 1, outputTokens: 2, costNanoUsd: 3 },
    });
    const items = [itemFacts('a', { attempts: 2, costNanoUsd: 5_003, endedAt: T0 + 2 * HOUR_MS })];
    for (const attempts of [
      [first, last],
      [last, first],
    ])
      expect(recordingOf(facts(items, attempts)).conversations).toMatchObject([
        { attempts: 2, workMs: HOUR_MS, outcome: 'FINISHED', costNanoUsd: 3 },
      ]);
  });

  it('does not call it an outcome when somebody else ended the work', () => {
    const items = [itemFacts('a', { outcome: 'limit_reached' }), itemFacts('b', { outcome: 'failed' })];
    const attempts = [
      attempt('a', { executionStatus: 'PAUSED' }),
      attempt('b', { startFailed: true, executionStatus: null, restedAt: null, firstEventAt: null }),
    ];
    const recording = recordingOf(facts(items, attempts));
    expect(recording.conversations).toMatchObject([
      { outcome: null, workMs: null },
      { outcome: null, workMs: null },
    ]);
    expect(recording.starts).toEqual({ asked: 2, failed: 1 });
    expect(recording.bootsMs).toEqual([8_000]);
  });

  it('measures one boot per sandbox, that of its first conversation', () => {
    const sandbox = { id: 'shared', createdAt: T0, generation: 2, stopMs: 3_000, stoppedAt: null };
    const attempts = [
      attempt('a', { sandbox, firstEventAt: T0 + HOUR_MS }),
      attempt('b', { sandbox, firstEventAt: T0 + 4_000 }),
      attempt('c', { sandbox: { ...sandbox, id: 'later', createdAt: T0 + MINUTE_MS }, firstEventAt: T0 }),
    ];
    const recording = recordingOf(facts([itemFacts('a'), itemFacts('b')], attempts));
    expect(recording.bootsMs).toEqual([4_000]);
    expect(recording.stopsMs).toEqual([3_000, 3_000]);
    expect(recording.conversations.map(({ resumes }) => resumes)).toEqual([1, 1]);
  });

  it('measures what lies between the steps: a slot goes on to whoever was admitted first', () => {
    const stay = (key: string, from: number) =>
      attempt(key, {
        firstEventAt: T0 + from + 50,
        firstMessageAt: T0 + from + 50,
        sandbox: { id: key, createdAt: T0 + from, generation: 1, stopMs: 100, stoppedAt: T0 + from + 1_000 },
      });
    // Two slots: c takes over what a left at 1,000, d what b left at 1,200, and e asks after a slot was long free.
    const attempts = [stay('c', 1_300), stay('a', 0), stay('b', 200), stay('d', 1_250), stay('e', 9_000)];
    const items = attempts.map(({ key, sandbox }) =>
      itemFacts(key, {
        admittedAt: key === 'e' ? T0 + 8_990 : T0,
        endedAt: (sandbox?.stoppedAt ?? 0) - 100,
      }),
    );
    // c 1,300 - 1,200, a and b since their admission, d 1,250 - 1,000, e 9,000 - 8,990.
    expect(recordingOf(facts(items, attempts)).handoversMs).toEqual([100, 0, 200, 250, 10]);
    const retried = items.map((one) => ({ ...one, attempts: 2 }));
    expect(recordingOf(facts(retried, attempts)).handoversMs).toEqual([]);
  });

  it('knows the result of a check only where the job had one and the agent finished', () => {
    const outcomes = ['succeeded', 'check_failed', 'failed'] as const;
    const items = outcomes.map((outcome, at) => itemFacts(`k${at}`, { outcome, hasCheck: true }));
    const attempts = items.map(({ key }) => attempt(key));
    const results = recordingOf(facts(items, attempts)).conversations.map(({ checkPassed }) => checkPassed);
    expect(results).toEqual([true, false, null]);
  });
});

function recorded(key: string, change: Partial<RecordedConversation> = {}): RecordedConversation {
  return {
    key,
    attempts: 1,
    workMs: 10 * MINUTE_MS,
    outcome: 'FINISHED',
    afterMs: 3_000,
    checkPassed: null,
    inputTokens: 100,
    outputTokens: 10,
    costNanoUsd: 7_777,
    resumes: 0,
    ...change,
  };
}

function recording(conversations: readonly RecordedConversation[]): Recording {
  const starts = { asked: conversations.length, failed: 0 };
  return {
    kind: 'recording',
    format: 1,
    job: 'demo',
    planHash: 'h',
    bootsMs: [8_000],
    stopsMs: [500],
    handoversMs: [],
    starts,
    conversations,
  };
}

function replay(given: Recording, count: number, verify = false) {
  const check = { command: 'true', timeoutMs: MINUTE_MS };
  const items = Array.from({ length: count }, (_, at) => item(at, verify ? { verify: check } : {}));
  const asked = { ...question(count), plan: plan(count, { items, admission: { concurrency: 20 } }) };
  const models = fitModels(given, MODELS_DEFAULT);
  return simulatePlan({
    ...asked,
    models,
    replaces: recordedChecks(given, asked.plan),
    checks: true,
    seed: 5,
  });
}

describe('fitModels()', () => {
  it('plays what is recorded about a key exactly: time, end, check and bill', () => {
    const given = recording([
      recorded('item-0', { checkPassed: true }),
      recorded('item-1', { workMs: HOUR_MS, costNanoUsd: 123_456_789, checkPassed: false }),
      recorded('item-2', { outcome: 'STUCK', workMs: 1_000, costNanoUsd: 0 }),
      recorded('item-3', { outcome: 'ERROR', costNanoUsd: 5 }),
    ]);
    const answer = replay(given, 4, true);
    expect(answer.violations).toEqual([]);
    expect(answer.conversations.map(({ outcome }) => outcome)).toEqual([
      'succeeded',
      'check_failed',
      'failed',
      'failed',
    ]);
    expect(answer.conversations.map(({ costNanoUsd }) => costNanoUsd)).toEqual([7_777, 123_456_789, 0, 5]);
    const times = answer.conversations.map(({ stretches }) => {
      const [working, ended] = [stretches.find(({ as }) => as === 'working'), stretches.at(-1)];
      return (ended?.from ?? 0) - (working?.from ?? 0);
    });
    // Boot is a stretch of its own; check and collection count as work in a timeline.
    expect(times[0]).toBe(10 * MINUTE_MS + 3_000);
    expect(times[1]).toBe(HOUR_MS + 3_000);
    const starts = answer.conversations.map(({ stretches }) => {
      const [starting, working] = ['starting', 'working'].map((word) =>
        stretches.find(({ as }) => as === word),
      );
      return (working?.from ?? 0) - (starting?.from ?? 0);
    });
    expect(starts).toEqual([8_000, 8_000, 8_000, 8_000]);
  });

  it('plays keys that were not recorded from what the others took', () => {
    const works = [10, 20, 30, 40].map((minutes) => minutes * MINUTE_MS);
    const given = recording(works.map((workMs, at) => recorded(`other-${at}`, { workMs })));
    expect(exactKeys(given, plan(3)).size).toBe(0);
    const answer = replay(given, 12);
    expect(answer.conversations.every(({ outcome }) => outcome === 'succeeded')).toBe(true);
    expect(answer.costNanoUsd).toBe(12 * 7_777);
    const { work, outcomes } = fitModels(given, MODELS_DEFAULT).agent;
    expect(work).toEqual({ kind: 'samples', values: works });
    expect(outcomes).toEqual({ FINISHED: 4, ERROR: 0, STUCK: 0 });
  });

  it('falls back to the model for what the recording does not hold', () => {
    const nothing = { workMs: null, outcome: null, costNanoUsd: null, inputTokens: null, afterMs: null };
    const empty = { ...recording([recorded('item-0', nothing)]), bootsMs: [] };
    const models = fitModels(empty, MODELS_DEFAULT);
    expect(models.runtime.boot).toEqual(MODELS_DEFAULT.runtime.boot);
    expect(models.agentCall).toEqual(MODELS_DEFAULT.agentCall);
    expect(models.agent.work).toEqual(MODELS_DEFAULT.agent.work);
    expect(models.prices).toEqual(MODELS_DEFAULT.prices);
    expect([models.agentRules, models.agentByKey]).toEqual([[], new Map()]);
    expect(notRecorded(empty)).toContain('no boot: boot times are those of the default model');
    expect(notRecorded(empty).join('\n')).toMatch(/1 of 1: did not come to rest by itself/);
  });

  it('prices tokens when only tokens are known', () => {
    const given = recording([recorded('item-0', { costNanoUsd: null })]);
    const answer = replay(given, 1);
    // 100 tokens in at 3 USD and 10 out at 15 USD a million.
    expect(answer.costNanoUsd).toBe(100 * 3_000 + 10 * 15_000);
  });

  it('plays what lies between the steps as time in which the slot is held', () => {
    const given = {
      ...recording([recorded('item-0')]),
      stopsMs: [500, 600, 700],
      handoversMs: [900, null, 100],
    };
    // Of a sandbox of several conversations it is not known.
    expect(fitModels(given, MODELS_DEFAULT).runtime.stop).toEqual({ kind: 'samples', values: [800, 1_400] });
  });

  it('fails as many starts as failed', () => {
    const given = { ...recording([recorded('item-0')]), starts: { asked: 8, failed: 2 } };
    expect(fitModels(given, MODELS_DEFAULT).failures).toEqual({ prepareRepository: { share: 0.25 } });
  });
});

describe('fitDistribution()', () => {
  it.each([
    [[], null],
    [[5], { kind: 'fixed', value: 5 }],
    [[0, 0, 0], { kind: 'fixed', value: 0 }],
    [[0, 0, 9], { kind: 'samples', values: [0, 0, 9] }],
    [[1, 2, 3], { kind: 'samples', values: [1, 2, 3] }],
  ])('of %j is %j', (samples, expected) => {
    expect(fitDistribution(samples)).toEqual(expected);
  });
});
