/**
 * An answer under a broken rule is no answer.
 * Owns the refusal, the same for a job and for a scenario.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { PlanAnswer } from '../../simulator/simulate-plan.ts';

/** @throws ParleyError internal when a rule did not hold: that is a bug of ours, and what was counted is worth nothing */
export function refuseBroken({ violations }: PlanAnswer): void {
  const [first] = violations;
  if (first === undefined) return;
  const problem = `${first.name}: ${first.entity}: ${first.problem}`;
  throw new ParleyError('internal', `Cannot trust the simulation: ${problem}`);
}
