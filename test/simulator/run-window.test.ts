/** A batch is a window that slides: one slow conversation delays only itself; and what else paces a batch. */
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import { simulatePlan, type PlanAnswer } from '../../simulator/simulate-plan.ts';
import { item } from '../conformance/script-parts.ts';
import { question } from './questions.ts';

const slow = (keys: string) => ({
  ...MODELS_STEADY,
  agentRules: [{ keys, behaviour: { ...MODELS_STEADY.agent, work: fixed(10 * HOUR_MS) } }],
});

/** When each conversation ended, in milliseconds since the beginning, by key; the slow one left out. */
function ends(answer: PlanAnswer, startAt: number, without: string): readonly number[] {
  return answer.conversations
    .filter(({ key }) => key !== without)
    .map(({ stretches }) => (stretches.find(({ as }) => as === 'ended')?.from ?? 0) - startAt)
    .sort((a, b) => a - b);
}

/** When each conversation began, in order. */
function begins(answer: PlanAnswer, key: (key: string) => boolean = () => true): readonly number[] {
  return answer.conversations
    .filter((one) => key(one.key))
    .map(({ stretches }) => stretches.find(({ as }) => as === 'starting')?.from ?? 0)
    .sort((a, b) => a - b);
}

describe('a batch of a hundred', () => {
  it('goes on beside one conversation that takes ten hours, as if it had one place less', () => {
    const even = { ...question(99, { admission: { concurrency: 9 } }), models: MODELS_STEADY };
    const uneven = { ...question(100, { admission: { concurrency: 10 } }), models: slow('item-0') };
    const undisturbed = ends(simulatePlan(even), even.startAt, '');
    const disturbed = ends(simulatePlan({ ...uneven, checks: true }), uneven.startAt, 'item-0');
    expect(disturbed).toHaveLength(99);
    const last = (times: readonly number[]): number => times.at(-1) ?? 0;
    // All others are done long before the slow one, and as soon as nine places do them.
    expect(last(disturbed)).toBeLessThan(10 * HOUR_MS);
    expect(Math.abs(last(disturbed) - last(undisturbed))).toBeLessThan(MINUTE_MS);
  });
});

describe('what paces a batch, checked after every step', () => {
  const play = (count: number, change: Partial<Plan>): PlanAnswer =>
    simulatePlan({ ...question(count, change), checks: true });

  it('starts no faster than its rate', () => {
    const answer = play(20, { admission: { concurrency: 20, startEveryMs: 30_000 } });
    const at = begins(answer);
    expect(answer).toMatchObject({ phase: 'finished', violations: [] });
    for (let index = 1; index < at.length; index += 1)
      expect((at[index] ?? 0) - (at[index - 1] ?? 0)).toBeGreaterThanOrEqual(30_000);
  });

  it('has never two of one repository in flight', () => {
    const repository = (index: number) => ({
      name: `acme/r${index % 3}`,
      branch: null,
      host: null,
      tokenSecret: null,
    });
    const items = Array.from({ length: 12 }, (_, index) => item(index, { repository: repository(index) }));
    const per = [{ field: 'repo', name: null, value: null, max: 1 }] as const;
    const answer = play(12, { items, admission: { concurrency: 12, per } });
    expect(answer).toMatchObject({ phase: 'finished', violations: [] });
    for (const repo of [0, 1, 2]) {
      const spans = answer.conversations
        .filter(({ key }) => Number(key.slice('item-'.length)) % 3 === repo)
        .map(({ stretches }) => stretches.filter(({ as }) => as === 'starting' || as === 'ended'))
        .map(([start, end]) => ({ from: start?.from ?? 0, until: end?.from ?? 0 }))
        .sort((a, b) => a.from - b.from);
      for (const [index, { from }] of spans.entries())
        if (index > 0) expect(from).toBeGreaterThanOrEqual(spans[index - 1]?.until ?? 0);
    }
  });

  it('begins a second stage when the first has ended', () => {
    const needs = [{ entry: 'plan', outcome: 'succeeded', each: false }] as const;
    const items = Array.from({ length: 10 }, (_, index) =>
      item(index, index < 5 ? { entry: 'plan' } : { entry: 'implement', needs }),
    );
    const answer = play(10, { items, admission: { concurrency: 10 } });
    expect(answer).toMatchObject({ phase: 'finished', violations: [] });
    const lastOfFirst = Math.max(
      ...answer.conversations.slice(0, 5).map(({ stretches }) => stretches.at(-1)?.from ?? 0),
    );
    const second = begins(answer, (key) => Number(key.slice('item-'.length)) >= 5);
    expect(Math.min(...second)).toBeGreaterThanOrEqual(lastOfFirst);
  });

  it('begins in another order with another seed, and in the same one with the same', () => {
    const order = (seed: number): readonly string[] =>
      [...play(12, { admission: { concurrency: 1, order: { by: 'shuffle', seed } } }).conversations]
        .map(({ key, stretches }) => ({ key, at: stretches.find(({ as }) => as === 'starting')?.from ?? 0 }))
        .sort((a, b) => a.at - b.at)
        .map(({ key }) => key);
    expect(order(1)).toEqual(order(1));
    expect(order(1)).not.toEqual(order(2));
    expect([...order(1)].sort()).toEqual([...order(2)].sort());
  });
});
