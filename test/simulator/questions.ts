/** Questions that several tests ask the simulator. Owns their first values. */
import type { Plan } from '../../core/plan/plan.ts';
import { DAY_MS } from '../../core/time.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import type { PlanQuestion } from '../../simulator/simulate-plan.ts';
import { plan, POLICY } from '../conformance/script-parts.ts';

export function question(count: number, change: Partial<Plan> = {}): PlanQuestion {
  return {
    plan: plan(count, { admission: { concurrency: 10 }, ...change }),
    policy: POLICY,
    models: MODELS_STEADY,
    seed: 1,
    startAt: 1_700_000_000_000,
    untilMs: 30 * DAY_MS,
  };
}
