/** Plays a script on the simulator, with every checker on. Owns the wiring; what is done stands in the script. */
import { Checking, type Violation } from '../../simulator/checking.ts';
import { PUNCTUAL } from '../../simulator/checkers/checker.ts';
import { RandomStream } from '../../simulator/random.ts';
import { Simulation } from '../../simulator/simulation.ts';
import { World } from '../../simulator/models/world.ts';
import { EntityTraces } from './entity-traces.ts';
import { act, START_AT } from '../../simulator/script.ts';
import { ProbeTrigger, type ProbedScript } from './probe.ts';

export interface Played {
  readonly traces: EntityTraces;
  readonly violations: readonly Violation[];
}

export function playSimulated(script: ProbedScript): Played {
  const traces = new EntityTraces();
  const { models, policy } = script;
  let world: World | null = null;
  let checking: Checking | null = null;
  let trigger: ProbeTrigger | null = null;
  const simulation = new Simulation({
    startAt: START_AT,
    world: (port) => (world = new World(port, { models, policy, random: new RandomStream(script.seed) })),
    onStep: (step) => {
      traces.add(step);
      checking?.step(step);
      trigger?.see(step);
    },
  });
  if (world === null) throw new Error('Cannot play the script: there is no world');
  checking = new Checking(simulation, world, { ...PUNCTUAL, clockOffMs: farthestOff(script) });
  const stage = {
    world,
    deliver: simulation.deliver.bind(simulation),
    setClock: simulation.setClock.bind(simulation),
  };
  trigger = new ProbeTrigger(
    script,
    (fire) => simulation.script(simulation.now(), fire),
    (to, event) => stage.deliver(to, event),
  );
  for (const [number, { atMs, action }] of script.steps.entries())
    simulation.script(START_AT + atMs, () => act(stage, action, number));
  simulation.runUntil(START_AT + script.untilMs);
  checking.end();
  return { traces, violations: checking.violations };
}

/** At most so far is the clock of the machines off the true one. */
function farthestOff({ steps }: ProbedScript): number {
  return steps.reduce((sum, { action }) => sum + (action.do === 'clock' ? Math.abs(action.byMs) : 0), 0);
}
