/**
 * A loaded scenario under the deployment's policy, played once.
 * Owns what holds where the scenario says nothing, and that an answer under a broken rule is no answer.
 */
import { itemValues, observationValues } from '../../dsl/expression/values.ts';
import type { Scenario } from '../../dsl/scenario/scenario.ts';
import type { Deployment } from '../../ports/deployment.ts';
import { MODELS_DEFAULT } from '../../simulator/models/model-options.ts';
import { playScenario, type ScenarioAnswer } from '../../simulator/scenario/play-scenario.ts';
import type { OpenStage } from '../../simulator/plan-play.ts';
import { refuseBroken } from '../simulate/play-request.ts';

export interface PlayChoices {
  /** Instead of the scenario's own. */
  readonly seed?: number;
  readonly untilMs?: number;
  readonly onTraceLine?: (line: string) => void;
  readonly curves?: boolean;
  /** Another driver than the simulator's. */
  readonly stage?: OpenStage;
}

/** @throws as `refuseBroken` */
export function playLoaded(scenario: Scenario, deployment: Deployment, choices: PlayChoices): ScenarioAnswer {
  const models = { ...MODELS_DEFAULT, pollMs: deployment.pollMs };
  const answer = playScenario({
    scenario,
    defaults: { policy: deployment, models },
    itemValues,
    observationValues,
    ...choices,
  });
  refuseBroken(answer.plan);
  return answer;
}
