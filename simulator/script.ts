/**
 * A script as data: what users do at which instant, in which world, under which policy.
 * Owns the shapes and how an action reaches an entity; must not know which driver plays it.
 */
import type { MachineEvent } from '../core/machine/command.ts';
import { runId, type EntityAddress, type SandboxId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import { amendedPlanId } from '../core/run/amend/amended-plan-id.ts';
import { runSpec, runSetting } from '../core/run/run-spec.ts';
import { planChanges } from '../core/run/amend/plan-changes.ts';
import type { FailureClass, GroupingStrategy } from '../core/status.ts';
import { specOutsideRun } from './models/spec-outside-run.ts';
import { conversationIdNamed, sandboxIdNamed } from './models/derived-id.ts';
import type { ModelOptions, Policy } from './models/model-options.ts';
import { SIMULATED_USER } from './models/run-model.ts';
import type { Loss } from './models/runtime-model.ts';
import type { World } from './models/world.ts';
import { concurrency, CONVERSATION_REQUESTS, message, RUN_REQUESTS, SANDBOX_REQUESTS } from './requests.ts';

/** Conversations and sandboxes have names; `of` is the sandbox that a conversation was placed in. */
export type Action =
  | {
      readonly do: 'start';
      readonly name: string;
      readonly strategy?: GroupingStrategy;
      readonly in?: string;
      readonly silent?: true;
    }
  | {
      readonly do: 'message' | 'interrupt' | 'access' | 'remove' | 'confirm' | 'retitle';
      readonly name: string;
    }
  | { readonly do: 'pause' | 'resume' | 'delete' | 'mislead' | 'find'; readonly of: string }
  | { readonly do: 'lose'; readonly of: string; readonly loss: Loss }
  | { readonly do: 'create'; readonly sandbox: string }
  /** The wall clock of the engine is set, or its machine was suspended for so long: no worker ran meanwhile. */
  | { readonly do: 'clock'; readonly byMs: number }
  | (OfRun & {
      readonly do: 'run';
      readonly plan: Plan;
      /** Items of one shard at most; as a deployment has it when absent. */
      readonly shardItems?: number;
    })
  | (OfRun & { readonly do: 'cancelRun' | 'drainRun' })
  | (OfRun & { readonly do: 'resumeRun'; readonly classes: readonly FailureClass[] })
  | (OfRun & { readonly do: 'concurrency'; readonly of: number })
  /** `plan`: as the run had it, with every item of it at its place; the items named have gone from the job. */
  | (OfRun & {
      readonly do: 'amendRun';
      readonly from: Plan;
      readonly plan: Plan;
      readonly retired?: readonly number[];
    });

interface OfRun {
  /** Absent where a script has one run. */
  readonly run?: string;
}

/** A play as data. */
export interface Script {
  readonly name: string;
  readonly seed: number;
  readonly models: ModelOptions;
  readonly policy: Policy;
  /** Milliseconds from the beginning, ascending. */
  readonly steps: readonly { readonly atMs: number; readonly action: Action }[];
  readonly untilMs: number;
}

/**
 * Any number that is not 0 shows a forgotten `now`. Not the START_AT_DEFAULT of scenarios and jobs: a seed keeps its
 * instants, and the hash over them, whatever those begin with.
 */
export const START_AT = 1_700_000_000_000;
/** Id of the run that has no name. */
const RUN_DEFAULT = 'batch';

/** The driver: the world behind the commands, and the way in. */
export interface Stage {
  readonly world: World;
  deliver(to: EntityAddress, event: MachineEvent): void;
  /** False while nothing of an entity is on record, because its creation was held up; absent: never. */
  isCreated?(to: EntityAddress): boolean;
  /** Absent where no script sets it. */
  setClock?(byMs: number): void;
}

/** `number` makes the id of the request; the same one again is the same request. */
export function act(stage: Stage, action: Action, number: number): void {
  const requestId = `request-${number}`;
  switch (action.do) {
    case 'start':
      return start(stage, action);
    case 'message':
    case 'interrupt':
    case 'access':
    case 'remove':
    case 'confirm':
    case 'retitle':
      return say(stage, action, requestId);
    case 'create': {
      const sandboxId = sandboxIdNamed(action.sandbox);
      // An id is made for one sandbox: a client that creates again gets another.
      if (stage.world.placement.rows.has(sandboxId)) return;
      if (stage.world.placement.slots.take(sandboxId, SIMULATED_USER) !== null) return;
      const { limits } = stage.world.policy;
      const spec = { sandboxId, userId: SIMULATED_USER, createdBy: 'api' as const, limits };
      return stage.deliver({ machine: 'sandbox', id: sandboxId }, { type: 'created', spec });
    }
    case 'clock':
      return stage.setClock?.(action.byMs);
    case 'run':
    case 'cancelRun':
    case 'drainRun':
    case 'resumeRun':
    case 'concurrency':
    case 'amendRun':
      return atRun(stage, action, requestId);
    default:
      return atSandbox(stage, action, requestId);
  }
}

type RunAction = Extract<
  Action,
  { do: 'run' | 'cancelRun' | 'drainRun' | 'resumeRun' | 'concurrency' | 'amendRun' }
>;

function atRun(stage: Stage, action: RunAction, requestId: string): void {
  const id = runId(action.run ?? RUN_DEFAULT);
  const to = { machine: 'run', id } as const;
  switch (action.do) {
    case 'run': {
      stage.world.addPlan(id, action.plan);
      const spec = runSpec(
        action.plan,
        { runId: id, userId: SIMULATED_USER, setting: runSetting(stage.world.policy) },
        action.shardItems,
      );
      return stage.deliver(to, { type: 'runStarted', spec });
    }
    case 'cancelRun':
      return stage.deliver(to, RUN_REQUESTS.cancel(requestId));
    case 'drainRun':
      return stage.deliver(to, RUN_REQUESTS.drain(requestId));
    case 'resumeRun':
      return stage.deliver(to, { type: 'resumeRequested', requestId, classes: action.classes });
    case 'concurrency':
      return stage.deliver(to, concurrency(requestId, action.of));
    case 'amendRun': {
      stage.world.addPlan(amendedPlanId(id, action.plan.hash), action.plan);
      const changes = planChanges(action.from, action.plan, { runId: id, userId: SIMULATED_USER });
      return stage.deliver(to, { type: 'planAmended', requestId, ...changes, retired: action.retired ?? [] });
    }
  }
}

/** A name of a conversation stands for its sandbox; any other name for one made through the API. */
function sandboxOf({ world }: Stage, name: string): SandboxId {
  return world.placement.homeOf(conversationIdNamed(name)) ?? sandboxIdNamed(name);
}

type StartAction = Extract<Action, { do: 'start' }>;
type SayAction = Exclude<Extract<Action, { name: string }>, StartAction>;

function start(stage: Stage, action: StartAction): void {
  const conversationId = conversationIdNamed(action.name);
  const messageId = `${action.name}/initial`;
  const spec = specOutsideRun({
    conversationId,
    title: action.name,
    strategy: action.strategy ?? stage.world.policy.grouping,
    sandboxId: action.in === undefined ? null : sandboxOf(stage, action.in),
    initialMessage: { messageId, text: 'do it', run: action.silent !== true },
  });
  stage.world.agents.name(conversationId, action.name);
  stage.world.accepted.set(messageId, conversationId);
  stage.deliver({ machine: 'conversation', id: conversationId }, { type: 'started', spec, watcher: null });
}

function say(stage: Stage, action: SayAction, requestId: string): void {
  const id = conversationIdNamed(action.name);
  const to = { machine: 'conversation', id } as const;
  // What was never started cannot be called: an edge answers 404.
  if (!stage.world.agents.knows(id) || stage.isCreated?.(to) === false) return;
  switch (action.do) {
    case 'message':
      stage.world.accepted.set(requestId, id);
      return stage.deliver(to, message(requestId, 'more'));
    case 'interrupt':
    case 'access':
    case 'remove':
    case 'confirm':
      return stage.deliver(to, CONVERSATION_REQUESTS[action.do](requestId));
    case 'retitle':
      return stage.deliver(to, { type: 'metadataChanged', requestId, title: 'another', tags: { a: 'b' } });
  }
}

type SandboxAction = Extract<Action, { do: 'pause' | 'resume' | 'delete' | 'mislead' | 'find' | 'lose' }>;

function atSandbox(stage: Stage, action: SandboxAction, requestId: string): void {
  const id = sandboxOf(stage, action.of);
  const to = { machine: 'sandbox', id } as const;
  switch (action.do) {
    case 'pause':
    case 'resume':
    case 'delete':
      return stage.deliver(to, SANDBOX_REQUESTS[action.do](requestId));
    case 'mislead':
      return stage.world.placement.mislead(id);
    case 'find':
      return stage.world.find(id);
    case 'lose':
      return stage.world.lose(id, action.loss);
  }
}
