/**
 * Plays a script with its actions racing on purpose: on the embedded engine by firing what is due together in any order,
 * in the simulator by random delays between machines. Owns what is looked at when everything has come to rest.
 */
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import type { ActivityCommand } from '../../core/machine/command.ts';
import type { Rest } from '../../simulator/checkers/checker.ts';
import { LIVENESS, safetyCheckers } from '../../simulator/checkers/list.ts';
import { World } from '../../simulator/models/world.ts';
import { RandomStream } from '../../simulator/random.ts';
import { act, START_AT, type Script } from '../../simulator/script.ts';
import { Simulation } from '../../simulator/simulation.ts';
import { openEmbeddedStage } from './embedded-stage.ts';

/** Longest delay of a message between two machines, in milliseconds. */
const DELAY_MAX_MS = 8_000;
/** Invariants that a state alone can break: the others compare a state with the one before it. */
const OF_A_STATE: ReadonlySet<string> = new Set(['I1', 'I2', 'I5', 'I12', 'I16', 'M1']);

interface AtRest {
  readonly now: number;
  readonly world: World;
  readonly entities: Rest['entities'];
  readonly outstanding: readonly ActivityCommand[];
}

export async function raceEmbedded(script: Script, stream: RandomStream): Promise<readonly string[]> {
  const states = new Map<string, { address: EntityAddress; state: unknown }>();
  const stage = await openEmbeddedStage(script, ({ address, after }) => {
    states.set(addressKey(address), { address, state: after });
  });
  const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const lastAt = script.steps.at(-1)?.atMs ?? 0;
  await stage.clock.raceTo(START_AT + lastAt, stream, breathe);
  await stage.settle();
  await stage.clock.moveTo(START_AT + script.untilMs, () => stage.settle());
  const { outstanding } = stage.port;
  await stage.close();
  return problemsAtRest({
    now: START_AT + script.untilMs,
    world: stage.world,
    entities: [...states.values()],
    outstanding,
  });
}

export function raceSimulated(script: Script, stream: RandomStream): readonly string[] {
  const { models, policy } = script;
  let world: World | null = null;
  const simulation = new Simulation({
    startAt: START_AT,
    world: (port) => (world = new World(port, { models, policy, random: new RandomStream(script.seed) })),
    tellDelaysMs: () => [stream.next() * DELAY_MAX_MS],
  });
  if (world === null) throw new Error('Cannot race: there is no world');
  const stage = { world: world as World, deliver: simulation.deliver.bind(simulation) };
  for (const [number, { atMs, action }] of script.steps.entries())
    simulation.script(START_AT + atMs, () => act(stage, action, number));
  simulation.runUntil(START_AT + script.untilMs);
  return problemsAtRest({
    now: simulation.now(),
    world,
    entities: [...simulation.all()],
    outstanding: simulation.outstanding(),
  });
}

function problemsAtRest({ now, world, entities, outstanding }: AtRest): readonly string[] {
  const rest: Rest = { now, entities, facts: world, outstanding };
  const late = LIVENESS.flatMap(({ name, check }) =>
    check(rest).map(({ entity, problem }) => `${name}: ${entity}: ${problem}`),
  );
  const broken: string[] = [];
  for (const { name, machine, check } of safetyCheckers()) {
    if (!OF_A_STATE.has(name)) continue;
    for (const { address, state } of entities) {
      if (machine !== null && machine !== address.machine) continue;
      const event = { type: 'deadline' } as const;
      const step = { at: now, sequence: 1, address, event, before: state, after: state, commands: [] };
      const problem = check({ step, facts: world });
      if (problem !== null) broken.push(`${name}: ${addressKey(address)}: ${problem}`);
    }
  }
  return [...late, ...broken];
}
