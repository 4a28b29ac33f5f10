/**
 * What a conversation machine remembers.
 * Owns the state's shape, its first value and the public view of it; must not own a transition.
 */
import type { ConversationId, EntityAddress, RunId, SandboxId, UserId } from '../ids.ts';
import type { Observability } from '../observability.ts';
import type { HostPin } from '../placement/choose-host.ts';
import type { PoolPlacement } from '../placement/place-in-pool.ts';
import type { SeenRequests } from '../machine/requests.ts';
import type {
  AgentActivity,
  ConversationSnapshot,
  LimitReached,
  SandboxSnapshot,
} from '../machine/snapshot.ts';
import type { ExecutionStatus, GroupingStrategy, StartTaskStatus } from '../status.ts';

/** Phases in order of life. */
export const CONVERSATION_PHASES = [
  'placing',
  'attaching',
  'waitingForSandbox',
  'preparingRepository',
  'runningSetupScript',
  'settingUpGitHooks',
  'settingUpSkills',
  'startingConversation',
  'active',
  'startFailed',
  'readOnly',
  'deleting',
  'deleted',
] as const;
export type ConversationPhase = (typeof CONVERSATION_PHASES)[number];

/** What a conversation was started with: references to secrets only (D20). */
export interface ConversationSpec {
  readonly conversationId: ConversationId;
  readonly userId: UserId;
  readonly runId: RunId | null;
  readonly key: string | null;
  /** Position in the run's plan; null outside a run. */
  readonly itemIndex: number | null;
  readonly title: string | null;
  /** `owner/name`, and the key of its host in `code_hosts`; null for the deployment's default (D19). */
  readonly repository: string | null;
  readonly codeHost: string | null;
  readonly branch: string | null;
  readonly model: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly strategy: GroupingStrategy;
  /** Explicit placement (D16). */
  readonly sandboxId: SandboxId | null;
  /** The pool of its run; absent when the job has none. */
  readonly pool?: PoolPlacement;
  /** What the host of its sandbox must be; absent: any will do. */
  readonly host?: HostPin;
  readonly initialMessage: {
    readonly messageId: string;
    readonly text: string;
    readonly run: boolean;
  } | null;
  readonly iterationsMax: number;
  readonly confirmation: 'never' | 'risky' | 'always';
  /** Integer nano-USD at most; null for none. */
  readonly nanoUsdMax: number | null;
  /** Without a new event for this long the agent counts as stalled; null for never. */
  readonly noProgressMs: number | null;
  /** What its trace carries (D21); absent when the start request says nothing. */
  readonly observability?: Observability;
}

/** An item to deliver to the agent, in order. */
export type QueuedItem =
  | { readonly kind: 'message'; readonly itemId: string; readonly text: string; readonly run: boolean }
  | {
      readonly kind: 'confirmation';
      readonly itemId: string;
      readonly accept: boolean;
      readonly reason: string;
    }
  /** Goes on with the work that a session limit or a crash cut off (D15). */
  | { readonly kind: 'continue'; readonly itemId: string };

/** The whole state of the machine of a conversation; stored after each step, and read again by later builds. */
export interface ConversationState {
  readonly version: 1;
  readonly commandCount: number;
  readonly spec: ConversationSpec;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Machine that is notified of every change; null for none. */
  readonly watcher: EntityAddress | null;
  readonly phase: ConversationPhase;
  readonly sequence: number;
  readonly startTask: StartTaskStatus;
  readonly startTaskDetail: string | null;
  readonly startDeadline: number | null;
  /** The long command of the present step; any other answer is late. */
  readonly awaiting: string | null;
  /** Sandbox generation that command was meant for. */
  readonly awaitingGeneration: number | null;
  readonly sandboxId: SandboxId | null;
  /** The pool of its run was full, and the sandbox is none of it; absent otherwise. */
  readonly spilled?: true | undefined;
  /** The newest snapshot accepted; null before the first. */
  readonly sandbox: SandboxSnapshot | null;
  readonly attachRequestId: string | null;
  readonly placements: number;
  /** It waits for a slot, and who has them (D29); absent otherwise. */
  readonly waitsFor?: string | undefined;
  /** There was room while a placement was out, which may have been too early for it; absent otherwise. */
  readonly roomOffered?: true | undefined;
  readonly excluded: readonly SandboxId[];
  /** Generation for which the agent's conversation is open and armed; null before the first. */
  readonly openGeneration: number | null;
  readonly executionStatus: ExecutionStatus | null;
  /** Instant of the report it came from, by the agent's clock: newest wins. */
  readonly executionStatusAt: number | null;
  /** The agent's own reason for ERROR; null otherwise. */
  readonly executionDetail: string | null;
  readonly agentActivity: AgentActivity;
  readonly agentSequence: number;
  /** The watch on the agent's work; null while it rests. */
  readonly watch: string | null;
  readonly interrupted: boolean;
  readonly limitReached: LimitReached | null;
  readonly queue: readonly QueuedItem[];
  readonly deliveries: number;
  /** A resume requested of the sandbox and not answered. */
  readonly resumeRequestId: string | null;
  readonly resumeRequests: number;
  /** When to check the agent again without a callback; null for never. */
  readonly recheckAt: number | null;
  readonly seen: SeenRequests;
}

export function initConversation(
  spec: ConversationSpec,
  watcher: EntityAddress | null,
  now: number,
): ConversationState {
  return {
    version: 1,
    commandCount: 0,
    spec,
    createdAt: now,
    updatedAt: now,
    watcher,
    phase: 'placing',
    sequence: 0,
    startTask: 'WORKING',
    startTaskDetail: null,
    startDeadline: null,
    awaiting: null,
    awaitingGeneration: null,
    sandboxId: null,
    sandbox: null,
    attachRequestId: null,
    placements: 0,
    excluded: [],
    openGeneration: null,
    executionStatus: null,
    executionStatusAt: null,
    executionDetail: null,
    agentActivity: 'resting',
    agentSequence: 0,
    watch: null,
    interrupted: false,
    limitReached: null,
    queue: spec.initialMessage === null ? [] : [firstItem(spec.initialMessage)],
    deliveries: 0,
    resumeRequestId: null,
    resumeRequests: 0,
    recheckAt: null,
    seen: [],
  };
}

function firstItem(message: NonNullable<ConversationSpec['initialMessage']>): QueuedItem {
  return { kind: 'message', itemId: message.messageId, text: message.text, run: message.run };
}

/** While the sandbox stops or starts, it is unknown why the work was cut off, or whether it can go on. */
function isAtRest(sandbox: SandboxSnapshot | null): boolean {
  return sandbox === null || sandbox.transition === null;
}

/** Nothing queued, nothing in flight: the status is final until a client or the run sends something. */
export function isSettled(state: ConversationState): boolean {
  return (
    state.queue.length === 0 &&
    state.awaiting === null &&
    state.resumeRequestId === null &&
    (state.executionStatus !== 'RUNNING' || (state.interrupted && isAtRest(state.sandbox)))
  );
}

export function conversationSnapshot(state: ConversationState): ConversationSnapshot {
  return {
    conversationId: state.spec.conversationId,
    itemIndex: state.spec.itemIndex,
    generation: 0,
    sequence: state.sequence,
    startTask: state.startTask,
    sandboxId: state.sandboxId,
    sandboxStatus: state.sandbox?.status ?? null,
    ...(state.spilled === true ? { spilled: true } : {}),
    ...(state.waitsFor === undefined ? {} : { waitsFor: state.waitsFor }),
    pauseReason: state.sandbox?.pauseReason ?? null,
    executionStatus: state.executionStatus,
    interrupted: state.interrupted,
    limitReached: state.limitReached,
    settled: isSettled(state),
    detail: state.startTaskDetail ?? state.waitsFor ?? state.sandbox?.detail ?? state.executionDetail,
    deleted: state.phase === 'deleted',
  };
}
