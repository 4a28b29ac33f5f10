/**
 * A world on a clock that a test moves on: conversations, sandboxes and runs under one policy.
 * Owns the clock's way forward and how things begin; the rules are those of a real run, and none is added here.
 */
import { createHash } from 'node:crypto';
import type { ConversationSpec } from '../core/conversation/state.ts';
import type { MachineEvent } from '../core/machine/command.ts';
import { type ConversationId, type EntityAddress, type SandboxId, runId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import { runSpec, runSetting } from '../core/run/run-spec.ts';
import type { GroupingStrategy } from '../core/status.ts';
import { printDiagnostics } from '../dsl/check/print-diagnostics.ts';
import { compileJob } from '../dsl/compile-job.ts';
import { formatDuration } from '../dsl/duration.ts';
import { START_AT_DEFAULT } from '../dsl/scenario/start-at.ts';
import { Checking } from '../simulator/checking.ts';
import { specOutsideRun } from '../simulator/models/spec-outside-run.ts';
import { conversationIdNamed } from '../simulator/models/derived-id.ts';
import { SIMULATED_USER } from '../simulator/models/run-model.ts';
import { World as ModelWorld } from '../simulator/models/world.ts';
import { RandomStream } from '../simulator/random.ts';
import type { ModelPort } from '../simulator/model-port.ts';
import type { PlayedStage } from '../simulator/plan-play.ts';
import type { PlayedSimulation } from '../simulator/played-simulation.ts';
import { LastEvents, type PastEvent } from '../simulator/scenario/last-events.ts';
import type { SimulationStep } from '../simulator/simulation-options.ts';
import { Simulation } from '../simulator/simulation.ts';
import { openSkippingStage } from './temporal/skipping-stage.ts';
import { ConversationHandle } from './conversation-handle.ts';
import { chosenEngine, type WorldEngine } from './engine-choice.ts';
import type { PlayedWorld } from './played-world.ts';
import { RunHandle } from './run-handle.ts';
import type { SandboxHandle } from './sandbox-handle.ts';
import { modelsFrom, type WrittenModels } from './written-models.ts';
import { policyFrom, type WrittenPolicy } from './written-policy.ts';
import { milliseconds, type Time } from './written-time.ts';

/** Everything has a default: the policy of a deployment, and a world where all goes well. */
export interface WorldOptions {
  readonly policy?: WrittenPolicy;
  readonly models?: WrittenModels;
  /** Integer of 0 or more, 1 by default; matters only where `models` leave something to chance. */
  readonly seed?: number;
  /** What drives the machines: `simulator` by default, or what PARLEY_TESTING_ENGINE says. */
  readonly engine?: WorldEngine;
  /** Real time that a world on Temporal may take all in all; three minutes by default. */
  readonly wallLimit?: Time;
}

/** A conversation to be started. */
export interface StartOptions {
  /** Unique in the world; chooses the behaviour among `models.agents`. */
  readonly name: string;
  /** `owner/name`. */
  readonly repo?: string;
  readonly model?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The sandbox to run in, or a conversation whose sandbox it is; overrides the grouping. */
  readonly sandbox?: SandboxHandle | ConversationHandle;
  /** Instead of the policy's. */
  readonly grouping?: GroupingStrategy;
  /** The first message; null starts it without one. */
  readonly message?: string | null;
}

/**
 * A new world at elapsed time 0, in which nothing has been started.
 * @throws RangeError when a time is no duration; ParleyError engine_misconfigured when time cannot be skipped here
 */
export function createWorld(options: WorldOptions = {}): World {
  return new World(options);
}

/** Begins at a fixed instant; time passes only when the test says so. */
export class World implements PlayedWorld {
  readonly startAt: number;
  /** The driver below; for what this interface does not show. */
  readonly simulation: PlayedSimulation;
  /** The models below. */
  readonly model: ModelWorld;
  private readonly last = new LastEvents();
  /** Null on Temporal, where steps are late by real milliseconds. */
  private readonly checking: Checking | null;
  private readonly stage: TestStage;
  private requests = 0;
  private runs = 0;

  constructor({ policy = {}, models = {}, seed = 1, engine, wallLimit }: WorldOptions) {
    const late: { checking: Checking | null } = { checking: null };
    const options = {
      models: modelsFrom(models),
      policy: policyFrom(policy),
      random: new RandomStream(seed),
    };
    const world = (port: ModelPort): ModelWorld => new ModelWorld(port, options);
    const onStep = (step: SimulationStep): void => {
      this.last.add(step);
      late.checking?.step(step);
    };
    const isOnTemporal = chosenEngine(engine) === 'temporal';
    const wall = wallLimit === undefined ? {} : { wallMs: milliseconds(wallLimit) };
    this.stage = isOnTemporal
      ? openSkippingStage({ world, onStep, ...wall })
      : simulatedStage({ world, onStep });
    const { startAt, simulation, world: model } = this.stage;
    this.startAt = startAt;
    this.simulation = simulation;
    this.model = model;
    late.checking = this.checking = isOnTemporal ? null : new Checking(simulation, model);
  }

  /** Epoch milliseconds of the virtual clock. */
  get now(): number {
    return this.simulation.now();
  }

  /** Milliseconds since the world began. */
  get elapsedMs(): number {
    return this.simulation.now() - this.startAt;
  }

  /** The same as text, as in `12h30m`. */
  get elapsed(): string {
    return formatDuration(this.elapsedMs);
  }

  /** Starts a conversation now; it is placed, booted and at work as time goes on. */
  start(options: StartOptions): ConversationHandle {
    const id = conversationIdNamed(options.name);
    if (this.model.agents.knows(id))
      throw new Error(`Cannot start "${options.name}": there is a conversation of that name`);
    const spec = startSpec(options, id, this.model.policy.grouping);
    this.model.agents.name(id, options.name);
    if (spec.initialMessage !== null) this.model.accepted.set(spec.initialMessage.messageId, id);
    this.deliver({ machine: 'conversation', id }, { type: 'started', spec, watcher: null });
    return new ConversationHandle(this, id, options.name);
  }

  /**
   * Starts a run now: of a plan, or of a job as YAML text.
   * @throws Error with the findings when the job has errors
   */
  run(job: Plan | string): RunHandle {
    const plan = typeof job === 'string' ? planFrom(job) : job;
    this.runs += 1;
    const id = runId(`run-${this.runs}`);
    this.model.addPlan(id, plan);
    const spec = runSpec(plan, {
      runId: id,
      userId: SIMULATED_USER,
      setting: runSetting(this.model.policy),
    });
    this.deliver({ machine: 'run', id }, { type: 'runStarted', spec });
    return new RunHandle(this, id, plan);
  }

  /**
   * Lets this much time pass, with everything that happens in it.
   * @throws Error when an invariant of docs/simulation.md is broken: that is a bug of the rules, never of a test
   */
  advance(time: Time): void {
    this.simulation.runUntil(this.simulation.now() + milliseconds(time));
    const [broken] = this.checking?.violations ?? [];
    if (broken === undefined) return;
    throw new Error(`Cannot go on: ${broken.name} is broken: ${broken.entity}: ${broken.problem}`);
  }

  /** Lets time pass until so much has passed since the world began. @throws RangeError when that is over */
  advanceTo(time: Time): void {
    const restMs = milliseconds(time) - this.elapsedMs;
    if (restMs < 0) throw new RangeError(`Cannot go back to "${time}": ${this.elapsed} have passed`);
    this.advance(restMs);
  }

  /** Does something once so much time has passed since the world began, after everything else of that instant. */
  at(time: Time, act: (world: World) => void): void {
    const at = this.startAt + milliseconds(time);
    if (at < this.simulation.now())
      throw new RangeError(`Cannot act at "${time}": ${this.elapsed} have passed`);
    this.simulation.script(at, () => act(this));
  }

  /** The last events of these entities together, oldest first. */
  lastEvents(entities: readonly EntityAddress[]): readonly PastEvent[] {
    return this.last.of(entities);
  }

  stateOf(address: EntityAddress): unknown {
    return this.simulation.stateOf(address);
  }

  /** An event from outside, now. */
  deliver(to: EntityAddress, event: MachineEvent): void {
    this.simulation.deliver(to, event);
  }

  /** An id for a request that was not made yet. */
  newRequestId(): string {
    this.requests += 1;
    return `request-${this.requests}`;
  }

  /** Ends the server of a world on Temporal, which else ends with its process; what was seen stays readable. */
  close(): void {
    this.stage.close();
  }
}

interface TestStage extends PlayedStage {
  close(): void;
}

interface StageOptions {
  readonly world: (port: ModelPort) => ModelWorld;
  readonly onStep: (step: SimulationStep) => void;
}

function simulatedStage({ world, onStep }: StageOptions): TestStage {
  const late: { model: ModelWorld | null } = { model: null };
  const startAt = START_AT_DEFAULT;
  const simulation = new Simulation({ startAt, world: (port) => (late.model = world(port)), onStep });
  if (late.model === null) throw new Error('Cannot simulate: there is no world');
  return { simulation, world: late.model, startAt, close: () => undefined };
}

interface Written {
  readonly name: string;
  readonly repo?: string;
  readonly model?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly sandbox?: { readonly sandboxId: SandboxId | null };
  readonly grouping?: GroupingStrategy;
  readonly message?: string | null;
}

/** @throws Error when it is to join a conversation that has no sandbox yet */
function startSpec(
  { name, repo, model, tags, sandbox, grouping, message }: Written,
  conversationId: ConversationId,
  groupingDefault: GroupingStrategy,
): ConversationSpec {
  if (sandbox?.sandboxId === null)
    throw new Error(`Cannot start "${name}" there: that conversation has no sandbox yet`);
  return specOutsideRun({
    conversationId,
    title: name,
    repository: repo ?? null,
    model: model ?? null,
    tags: tags ?? {},
    strategy: grouping ?? groupingDefault,
    sandboxId: sandbox?.sandboxId ?? null,
    initialMessage:
      message === null ? null : { messageId: `${name}/initial`, text: message ?? 'begin', run: true },
  });
}

/** @throws Error with the findings when the job has errors */
export function planFrom(text: string): Plan {
  const sha256 = (whole: string): string => createHash('sha256').update(whole, 'utf8').digest('hex');
  const { plan, diagnostics } = compileJob(
    { path: 'job.yaml', text },
    { readFile: () => ({ problem: 'missing' }), sha256, inputs: { typed: {}, values: {} } },
  );
  if (plan !== null) return plan;
  throw new Error(
    `Cannot run the job: it has errors\n${printDiagnostics(diagnostics, text, { format: 'pretty' })}`,
  );
}
