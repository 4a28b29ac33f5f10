/**
 * A conformance script as data: what people do at which instant, in which world, under which policy.
 * Owns the shapes and how an action reaches an entity; must not know who plays it.
 */
import type { MachineEvent } from '../../core/command.ts';
import type { ConversationBirth } from '../../core/conversation/state.ts';
import { runId, type EntityAddress, type SandboxId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan.ts';
import { runBirth } from '../../core/run/state.ts';
import type { FailureClass, GroupingStrategy } from '../../core/status.ts';
import { conversationIdNamed, sandboxIdNamed } from '../../simulator/models/derived-id.ts';
import type { ModelOptions, Policy } from '../../simulator/models/model-options.ts';
import { SIMULATED_USER } from '../../simulator/models/run-model.ts';
import type { Loss } from '../../simulator/models/runtime-model.ts';
import type { World } from '../../simulator/models/world.ts';

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
  | { readonly do: 'run'; readonly plan: Plan }
  | { readonly do: 'cancelRun' | 'drainRun' }
  | { readonly do: 'resumeRun'; readonly classes: readonly FailureClass[] }
  | { readonly do: 'concurrency'; readonly of: number };

export interface Script {
  readonly name: string;
  readonly seed: number;
  readonly models: ModelOptions;
  readonly policy: Policy;
  /** Milliseconds from the beginning, ascending. */
  readonly steps: readonly { readonly atMs: number; readonly action: Action }[];
  readonly untilMs: number;
}

/** Any number that is not 0 shows a forgotten `now`. */
export const START_AT = 1_700_000_000_000;
const RUN = { machine: 'run', id: 'batch' } as const;

/** Who plays: the world behind the commands, and the way in. */
export interface Stage {
  readonly world: World;
  deliver(to: EntityAddress, event: MachineEvent): void;
}

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
      if (stage.world.placement.takeSlot(sandboxId, SIMULATED_USER) !== null) return;
      const { limits } = stage.world.policy;
      const birth = { sandboxId, userId: SIMULATED_USER, createdBy: 'api' as const, limits };
      return stage.deliver({ machine: 'sandbox', id: sandboxId }, { type: 'created', birth });
    }
    case 'run':
      stage.world.addPlan(runId(RUN.id), action.plan);
      return stage.deliver(RUN, {
        type: 'runStarted',
        birth: runBirth(action.plan, { runId: runId(RUN.id), userId: SIMULATED_USER }),
      });
    case 'cancelRun':
      return stage.deliver(RUN, { type: 'cancelRequested', requestId });
    case 'drainRun':
      return stage.deliver(RUN, { type: 'drainRequested', requestId });
    case 'resumeRun':
      return stage.deliver(RUN, { type: 'resumeRequested', requestId, classes: action.classes });
    case 'concurrency':
      return stage.deliver(RUN, { type: 'concurrencyChanged', requestId, concurrency: action.of });
    default:
      return atSandbox(stage, action, requestId);
  }
}

/** A name of a conversation stands for its sandbox; any other name for one made through the API. */
function sandboxOf({ world }: Stage, name: string): SandboxId {
  return world.placement.homeOf(conversationIdNamed(name)) ?? sandboxIdNamed(name);
}

type StartAction = Extract<Action, { do: 'start' }>;

function start(stage: Stage, action: StartAction): void {
  const conversationId = conversationIdNamed(action.name);
  const messageId = `${action.name}/initial`;
  const birth: ConversationBirth = {
    conversationId,
    userId: SIMULATED_USER,
    runId: null,
    key: null,
    itemIndex: null,
    title: action.name,
    repository: null,
    codeHost: null,
    branch: null,
    model: null,
    tags: {},
    strategy: action.strategy ?? stage.world.policy.grouping,
    sandboxId: action.in === undefined ? null : sandboxOf(stage, action.in),
    initialMessage: { messageId, text: 'do it', run: action.silent !== true },
    iterationsMax: 500,
    confirmation: 'never',
    nanoUsdMax: null,
    noProgressMs: null,
  };
  stage.world.agents.name(conversationId, action.name);
  stage.world.accepted.set(messageId, conversationId);
  stage.deliver({ machine: 'conversation', id: conversationId }, { type: 'started', birth, watcher: null });
}

function say(stage: Stage, action: Extract<Action, { name: string }>, requestId: string): void {
  const id = conversationIdNamed(action.name);
  const to = { machine: 'conversation', id } as const;
  // Nobody can speak to what was never started: an edge answers 404.
  if (!stage.world.agents.knows(id)) return;
  switch (action.do) {
    case 'message':
      stage.world.accepted.set(requestId, id);
      return stage.deliver(to, { type: 'messageReceived', messageId: requestId, text: 'more', run: true });
    case 'interrupt':
      return stage.deliver(to, { type: 'interruptRequested', requestId });
    case 'access':
      return stage.deliver(to, { type: 'accessRequested', requestId });
    case 'remove':
      return stage.deliver(to, { type: 'deleteRequested', requestId });
    case 'confirm':
      return stage.deliver(to, { type: 'confirmationAnswered', requestId, accept: true, reason: '' });
    case 'retitle':
      return stage.deliver(to, { type: 'metadataChanged', requestId, title: 'another', tags: { a: 'b' } });
    case 'start':
      return start(stage, action);
  }
}

type SandboxAction = Extract<Action, { do: 'pause' | 'resume' | 'delete' | 'mislead' | 'find' | 'lose' }>;

function atSandbox(stage: Stage, action: SandboxAction, requestId: string): void {
  const id = sandboxOf(stage, action.of);
  const to = { machine: 'sandbox', id } as const;
  switch (action.do) {
    case 'pause':
      return stage.deliver(to, { type: 'pauseRequested', requestId, reason: 'user' });
    case 'resume':
      return stage.deliver(to, { type: 'resumeRequested', requestId, conversationId: null });
    case 'delete':
      return stage.deliver(to, { type: 'deleteRequested', requestId });
    case 'mislead':
      return stage.world.placement.mislead(id);
    case 'find':
      return stage.world.runtime.find(id);
    case 'lose':
      return stage.world.runtime.lose(id, action.loss);
  }
}
