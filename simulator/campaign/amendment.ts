/**
 * A job that changes while its run goes on: one item more, the first one another, the second one gone.
 * Owns what is changed; what becomes of it is for the run to say.
 */
import type { MachineEvent } from '../../core/command.ts';
import type { EntityAddress } from '../../core/ids.ts';
import { amendedPlanId } from '../../core/run/amended-plan-id.ts';
import { planChanges } from '../../core/run/plan-changes.ts';
import type { RunState } from '../../core/run/state.ts';
import { SIMULATED_USER } from '../models/run-model.ts';
import type { Stage } from '../script.ts';
import type { Simulation } from '../simulation.ts';

type Playing = Pick<Stage, 'world'> & { readonly simulation: Simulation };

/** Null where there is no such run, or its plan is not known yet. */
export function amendment(stage: Playing, to: EntityAddress, requestId: string): MachineEvent | null {
  const run = stage.simulation.stateOf(to) as RunState | null;
  const from = run === null ? null : stage.world.planOf(run.runId, run.planHash);
  const first = from?.items[0];
  if (run === null || from === null || first === undefined) return null;
  const { items } = from;
  const changed = { ...first, prompt: `${first.prompt}, ${requestId}`, specHash: requestId };
  const added = { ...changed, key: `${requestId}-more`, index: items.length };
  const plan = {
    ...from,
    items: [changed, ...items.slice(1), added],
    hash: `${from.hash}, ${requestId}`,
  };
  stage.world.addPlan(amendedPlanId(run.runId, plan.hash), plan);
  const changes = planChanges(from, plan, { runId: run.runId, userId: SIMULATED_USER });
  return { type: 'planAmended', requestId, ...changes, retired: items.length > 1 ? [1] : [] };
}
