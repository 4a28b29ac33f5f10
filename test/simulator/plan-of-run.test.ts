/** What a run was planned as: the same job, planned again after its run, has nothing that is new or another. */
import { describe, expect, it } from 'vitest';
import { amendPlan } from '../../dsl/plan/amend-plan.ts';
import { diffPlans, isUnchanged } from '../../dsl/plan/plan-diff.ts';
import { SHA256 } from '../../host/job/job-file.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { START_AT } from '../../simulator/script.ts';
import { planAgain, randomJob } from '../conformance/random-job.ts';

const JOBS = 150;

describe('the job of a run, planned again', () => {
  it('shows no change, wherever the run stands', () => {
    const kinds = new Map<string, number>();
    for (let seed = 0; seed < JOBS; seed += 1) {
      const { steps, models, policy, untilMs } = randomJob(seed);
      const [first] = steps;
      if (first?.action.do !== 'run') throw new Error('a random job begins with its run');
      const { plan } = first.action;
      const { conversations } = simulatePlan({ plan, models, policy, seed, startAt: START_AT, untilMs });
      const outcomes = new Map(conversations.map(({ key, outcome }) => [key, outcome]));
      const again = planAgain(seed);
      expect({ seed, hash: again.hash }).toEqual({ seed, hash: plan.hash });
      const diff = diffPlans(plan, again, outcomes);
      expect({ seed, isUnchanged: isUnchanged(diff) }).toEqual({ seed, isUnchanged: true });
      for (const { kind } of diff.items) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      expect(amendPlan(plan, again, { outcomes, hasher: SHA256 })).toEqual({ plan, retired: [], kept: [] });
    }
    // Both happen, so that it is asked about runs that ended well and others.
    expect([...kinds.keys()].sort()).toEqual(['retried', 'reused']);
  });
});
