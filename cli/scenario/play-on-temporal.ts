/**
 * A loaded scenario on a Temporal server that skips time, which each play has to itself.
 * Owns what such a play cannot do, and the end of its engine; what is asked and when is the scenario's business.
 */
import type { Scenario } from '../../dsl/scenario/scenario.ts';
import type { Deployment } from '../../ports/deployment.ts';
import type { ScenarioAnswer } from '../../simulator/scenario/play-scenario.ts';
import { openSkippingStage, type SkippingStage } from '../../testing/temporal/skipping-stage.ts';
import { CliError } from '../../host/cli-error.ts';
import type { LoadedScenario } from './load-scenario.ts';
import { playLoaded } from './play-loaded.ts';

/** One play of a scenario under one seed. */
export type PlayOn = (scenario: Scenario, deployment: Deployment, seed: number) => ScenarioAnswer;

/** @throws ParleyError engine_misconfigured without a server that skips time; internal when it takes too long */
export const playOnTemporal: PlayOn = (scenario, deployment, seed) => {
  const open: { stage: SkippingStage | null } = { stage: null };
  try {
    return playLoaded(scenario, deployment, {
      seed,
      stage: (world, onStep) => (open.stage = openSkippingStage({ world, onStep })),
    });
  } finally {
    open.stage?.close();
  }
};

/** @throws CliError for the first scenario that lets faults strike: they are faults of the simulator's own driver */
export function refuseFaults(loaded: readonly LoadedScenario[]): void {
  for (const { file, scenario } of loaded) {
    if (!Object.values(scenario?.faults ?? {}).some((share) => share > 0)) continue;
    throw new CliError(
      `Cannot play "${file}" on Temporal: it lets faults strike, which the simulator alone does`,
      {
        remedy: 'leave out --engine, or choose other scenarios with --filter',
      },
    );
  }
}
