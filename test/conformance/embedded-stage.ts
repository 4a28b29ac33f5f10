/**
 * The embedded engine on a stage: a real SQLite store, a clock that a test moves, activities that a model answers.
 * Owns the wiring and what settled means; must not know a rule, or when the clock moves.
 */
import type { Activities } from '../../activities/activity.ts';
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import type { EntityAddress } from '../../core/ids.ts';
import { ACTIVITY_COMMAND_TYPES } from '../../core/machine/resource.ts';
import type { StepRecord } from '../../engine/batch.ts';
import { Engine } from '../../engine/engine.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { ModelPort } from '../../simulator/model-port.ts';
import { World } from '../../simulator/models/world.ts';
import { RandomStream } from '../../simulator/random.ts';
import { act, START_AT } from '../../simulator/script.ts';
import { openStore } from '../../store/open-store.ts';
import { OrderedClock } from './ordered-clock.ts';
import { ProbeTrigger, type ProbedScript } from './probe.ts';

/** Model and engine joined: commands go to the model, answers and events come back. */
export class EmbeddedPort implements ModelPort {
  /** Counts whatever happens: when it stands still, everything is settled. */
  activity = 0;
  notifier: Notifier | null = null;
  world: World | null = null;
  private readonly clock: OrderedClock;
  private readonly out = new Map<
    string,
    { readonly command: ActivityCommand; readonly resolve: (event: MachineEvent | null) => void }
  >();
  private delivered: Promise<void> = Promise.resolve();

  constructor(clock: OrderedClock) {
    this.clock = clock;
  }

  now(): number {
    return this.clock.steady();
  }

  later(commandId: string | null, at: number, run: () => void): void {
    this.clock.put(at, 0, () => {
      if (commandId === null || this.out.has(commandId)) run();
    });
  }

  answer(command: ActivityCommand, event: MachineEvent | null): void {
    const out = this.out.get(command.id);
    this.out.delete(command.id);
    this.activity += 1;
    void this.delivered.then(() => out?.resolve(event));
  }

  deliver(to: EntityAddress, event: MachineEvent): void {
    this.activity += 1;
    const { notifier } = this;
    this.world?.hears(to, event);
    if (notifier === null) throw new Error('Cannot deliver: there is no engine yet');
    this.delivered = this.delivered.then(() =>
      notifier.deliver({ to, event } as Parameters<Notifier['deliver']>[0]),
    );
  }

  carryOut(world: World, command: ActivityCommand, signal: AbortSignal): Promise<MachineEvent | null> {
    this.activity += 1;
    return new Promise((resolve) => {
      this.out.set(command.id, { command, resolve });
      const abandon = (): void => {
        this.out.delete(command.id);
        resolve(null);
      };
      signal.addEventListener('abort', abandon, { once: true });
      world.begin(command);
    });
  }

  /** Commands that a machine waits for. */
  get outstanding(): readonly ActivityCommand[] {
    return [...this.out.values()].map(({ command }) => command);
  }

  get settled(): Promise<void> {
    return this.delivered;
  }
}

function activitiesOf(port: EmbeddedPort, world: World): Activities {
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => {
    const run = (command: ActivityCommand, { signal }: { readonly signal: AbortSignal }) =>
      port.carryOut(world, command, signal);
    const retry = { initialMs: 0, maxMs: 0, attemptsMax: 1 };
    return [type, { type, retry, run, failed: () => null }];
  });
  return Object.fromEntries(entries) as Activities;
}

export interface EmbeddedStage {
  readonly engine: Engine;
  readonly world: World;
  readonly clock: OrderedClock;
  readonly port: EmbeddedPort;
  /** Resolves once every inbox is empty and nothing moved during a whole turn of the event loop, twice. */
  settle(): Promise<void>;
  /** @throws Error when the engine met a problem on the way */
  close(): Promise<void>;
}

/** Puts every action of the script on the clock, and moves nothing. */
export async function openEmbeddedStage(
  script: ProbedScript,
  onStep: (step: StepRecord & { readonly at: number }) => void,
): Promise<EmbeddedStage> {
  const clock = new OrderedClock();
  const port = new EmbeddedPort(clock);
  const { models, policy } = script;
  const world = new World(port, { models, policy, random: new RandomStream(script.seed) });
  port.world = world;
  const store = await openStore({ kind: 'sqlite', path: ':memory:' });
  const problems: unknown[] = [];
  const note = (problem: unknown): void => void problems.push(problem);
  const trigger = new ProbeTrigger(
    script,
    (fire) => clock.put(clock.steady(), 2, fire),
    (to, event) => port.deliver(to, event),
  );
  const engine = new Engine({
    store: store.engine,
    activities: activitiesOf(port, world),
    clock,
    // All wait as watches do: the engine counts only the others as work that has to end before it is settled.
    resourceOf: () => 'watch',
    onStep: (step) => {
      port.activity += 1;
      for (const command of step.commands) if (command.type === 'project') world.project(command.rows);
      onStep({ at: clock.steady(), ...step });
      trigger.see({ at: clock.steady(), ...step });
    },
    onActivityError: (_command, error) => note(error),
    onCommitError: note,
    onStepError: note,
  });
  port.notifier = engine;
  await engine.start();
  const people = {
    world,
    deliver: port.deliver.bind(port),
    setClock(byMs: number) {
      port.activity += 1;
      clock.set(byMs);
    },
  };
  for (const [number, { atMs, action }] of script.steps.entries())
    clock.put(START_AT + atMs, 2, () => act(people, action, number));
  return { engine, world, clock, port, settle: () => settle(engine, port), close: () => close() };

  async function close(): Promise<void> {
    await engine.stop();
    await store.close();
    if (problems.length > 0)
      throw new Error(`Cannot play the script: ${String(problems[0])}`, { cause: problems[0] });
  }
}

async function settle(engine: Engine, port: EmbeddedPort): Promise<void> {
  for (let before = -1; before !== port.activity;) {
    before = port.activity;
    await port.settled;
    await new Promise((resolve) => setImmediate(resolve));
    await engine.settled();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
