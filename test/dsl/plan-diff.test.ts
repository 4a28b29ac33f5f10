/**
 * Comparison of plans: a plan against itself changes nothing, and every change is named field by field.
 */
import { describe, expect, it } from 'vitest';

import type { Plan } from '../../core/plan/plan.ts';
import type { Outcome } from '../../core/status.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { diffPlans, isUnchanged } from '../../dsl/plan/plan-diff.ts';
import { goldenText, validJobs } from './golden-files.ts';
import { testWorld } from './test-world.ts';

function planOf(text: string): Plan {
  const { plan } = compileJob({ path: 'job.yaml', text }, testWorld);
  if (plan === null) throw new Error('the job has errors');
  return plan;
}

const job = (conversations: string, more = '') =>
  planOf(
    `kind: job\nversion: 1\nname: demo\ndefaults: {model: fast}\n${more}conversations:\n${conversations}`,
  );

const all = (plan: Plan, outcome: Outcome): ReadonlyMap<string, Outcome> =>
  new Map(plan.items.map(({ key }) => [key, outcome]));

describe('diffPlans', () => {
  it.each(validJobs())('finds no change of %s against itself', (file) => {
    const plan = planOf(goldenText(file));
    const again = JSON.parse(JSON.stringify(plan)) as Plan;
    expect(isUnchanged(diffPlans(again, plan, all(plan, 'succeeded')))).toBe(true);
  });

  it('tells new, changed, reused, retried and orphaned apart, and why', () => {
    const before = job(
      '  - {id: a, prompt: A.}\n  - {id: b, prompt: B.}\n  - {id: c, prompt: C.}\n  - {id: d, prompt: D.}\n',
    );
    const after = job(
      '  - {id: e, prompt: E.}\n  - {id: c, prompt: C., limits: {turns: 5}}\n  - {id: b, prompt: B.}\n  - {id: a, prompt: A.}\n',
    );
    const outcomes = new Map<string, Outcome | null>([
      ['a', 'succeeded'],
      ['b', 'failed'],
      ['c', 'succeeded'],
      ['d', null],
    ]);
    expect(diffPlans(before, after, outcomes)).toEqual({
      run: [],
      items: [
        { kind: 'new', key: 'e', fields: [], outcome: null },
        {
          kind: 'changed',
          key: 'c',
          fields: [{ field: 'limits.turns', before: null, after: 5 }],
          outcome: 'succeeded',
        },
        { kind: 'retried', key: 'b', fields: [], outcome: 'failed' },
        { kind: 'reused', key: 'a', fields: [], outcome: 'succeeded' },
        { kind: 'orphaned', key: 'd', fields: [], outcome: null },
      ],
    });
  });

  it('names what concerns the run as a whole', () => {
    const one = '  - {id: a, prompt: A.}\n';
    const { run, items } = diffPlans(job(one), job(one, 'wait: {deadline: 2h}\n'), new Map());
    expect(run).toEqual([{ field: 'wait.deadlineMs', before: 41_400_000, after: 7_200_000 }]);
    expect(items.map(({ kind }) => kind)).toEqual(['retried']);
  });
});
