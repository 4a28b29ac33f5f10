/**
 * What a sandbox machine remembers.
 * Owns the state's shape, its first value and the public view of it; must not own a transition.
 */
import type { ConversationId, SandboxId, UserId } from '../ids.ts';
import type { SeenRequests } from '../machine/requests.ts';
import type { AgentActivity, SandboxSnapshot } from '../machine/snapshot.ts';
import type { PauseReason, ReleaseReason, SandboxStatus, Transition } from '../status.ts';

/** Phases in order of life. Several of them share one public status (D8). */
export const SANDBOX_PHASES = [
  'starting',
  'running',
  'pausing',
  'released',
  'reserving',
  'resuming',
  'stopping',
  'archiving',
  'destroying',
  'errorStopping',
  'errorArchiving',
  'error',
  'errorDestroying',
  'errorEmpty',
  'missing',
] as const;
export type SandboxPhase = (typeof SANDBOX_PHASES)[number];

/** Deployment-wide limits as they held when the sandbox was made; null switches a rule off (D10). */
export interface SandboxLimits {
  readonly idleTimeMs: number | null;
  readonly deletionTimeMs: number | null;
}

/** One attached conversation, as far as its sandbox must know (D6). */
export interface AttachedAgent {
  readonly activity: AgentActivity;
  /** Sequence of the notice it came from: newest wins. */
  readonly sequence: number;
  /** Since when it has this activity, by the driver's clock. */
  readonly since: number;
}

/** A conversation that waits for the result of a resume it requested. */
export interface Waiter {
  readonly requestId: string;
  readonly conversationId: ConversationId;
}

/** The whole state of the machine of a sandbox; stored after each step, and read again by later builds. */
export interface SandboxState {
  readonly version: 1;
  readonly commandCount: number;
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
  /** Its maker decides whether the last conversation's deletion removes it (D11). */
  readonly createdBy: 'placement' | 'api';
  readonly createdAt: number;
  readonly limits: SandboxLimits;
  readonly phase: SandboxPhase;
  /** Incarnations so far; runtime calls, session keys and callbacks carry it (D14). */
  readonly generation: number;
  /** Counts public changes, for notices and projections. */
  readonly sequence: number;
  /** Public status while a transition is under way keeps its old value (D8). */
  readonly status: SandboxStatus;
  readonly pauseReason: PauseReason | null;
  readonly detail: string | null;
  /** The runtime could not be queried; changes nothing else (D13). */
  readonly stale: boolean;
  /** The long command whose answer is awaited; any other answer is late. */
  readonly awaiting: string | null;
  /** The idle watch of this session; null outside `running`. */
  readonly watch: string | null;
  /** What was requested while a transition was under way. */
  readonly wanted: 'pause' | 'resume' | null;
  /** Reason that the release under way will have. */
  readonly releaseReason: ReleaseReason;
  readonly sessionStartedAt: number | null;
  /** Deletion Time counts from here (D10); null while no release holds. */
  readonly releasedAt: number | null;
  /** End of the present phase or of its back-off; null when it has none of its own. */
  readonly phaseDeadline: number | null;
  /** Tries of the present phase's command. */
  readonly attempts: number;
  /** A user requested the deletion: an archive that fails does not stop it (D12). */
  readonly deletedByUser: boolean;
  readonly archive: 'none' | 'stored' | 'archive_failed';
  /** Milliseconds that its last stop took; absent before one. */
  readonly stopMs?: number | undefined;
  /** End of that stop. */
  readonly stoppedAt?: number | undefined;
  /** True once an Agent Server answered: only then is there a workspace worth archiving. */
  readonly everReady: boolean;
  readonly attached: Readonly<Record<string, AttachedAgent>>;
  readonly waiters: readonly Waiter[];
  /** An item of a run wants its resume: without a free slot it waits, whatever the policy (D29); absent otherwise. */
  readonly inRun?: true | undefined;
  /** There was room while it requested a slot, which may have been too early for it; absent otherwise. */
  readonly roomOffered?: true | undefined;
  /** Since when it requests a slot for its latest resume; absent before the first. */
  readonly inLineSince?: number | undefined;
  readonly seen: SeenRequests;
}

/** What the first event of a sandbox carries. */
export interface SandboxSpec {
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
  readonly createdBy: 'placement' | 'api';
  readonly limits: SandboxLimits;
  /** It was taken from the warm pool, and is up since then; absent: it is to be booted. */
  readonly bootedAt?: number;
}

/** A sandbox whose first start is not ordered yet: `step` does that on `created`. */
export function initSandbox(spec: SandboxSpec, now: number): SandboxState {
  return {
    version: 1,
    commandCount: 0,
    sandboxId: spec.sandboxId,
    userId: spec.userId,
    createdBy: spec.createdBy,
    createdAt: now,
    limits: spec.limits,
    phase: 'starting',
    generation: 1,
    sequence: 0,
    status: 'STARTING',
    pauseReason: null,
    detail: null,
    stale: false,
    awaiting: null,
    watch: null,
    wanted: null,
    releaseReason: 'user',
    sessionStartedAt: null,
    releasedAt: null,
    phaseDeadline: null,
    attempts: 0,
    deletedByUser: false,
    archive: 'none',
    everReady: false,
    attached: {},
    waiters: [],
    seen: [],
  };
}

const TRANSITIONS: Readonly<Partial<Record<SandboxPhase, Transition>>> = {
  pausing: 'pausing',
  reserving: 'resuming',
  resuming: 'resuming',
  stopping: 'deleting',
  archiving: 'archiving',
  destroying: 'deleting',
  errorStopping: 'pausing',
  errorArchiving: 'archiving',
  errorDestroying: 'deleting',
};

/** What is going on behind the public status (D8). */
export function transitionOf(state: SandboxState): Transition | null {
  return TRANSITIONS[state.phase] ?? null;
}

export function snapshotOf(state: SandboxState, sequence = state.sequence): SandboxSnapshot {
  return {
    sandboxId: state.sandboxId,
    generation: state.generation,
    sequence,
    status: state.status,
    pauseReason: state.pauseReason,
    transition: transitionOf(state),
    usable: state.phase === 'running',
    detail: state.detail,
  };
}

/**
 * With this conversation, at its place if it was there. Without a prototype, an engine keeps the record as a dictionary;
 * it would make a class for every conversation otherwise, and that is a tenth of a simulation's time.
 */
export function withAttached(
  attached: SandboxState['attached'],
  id: ConversationId,
  agent: AttachedAgent,
): SandboxState['attached'] {
  const record = Object.assign(Object.create(null) as Record<string, AttachedAgent>, attached);
  record[id] = agent;
  return record;
}

/** Conversations in it. */
export function attachedIds(state: SandboxState): readonly ConversationId[] {
  return Object.keys(state.attached) as ConversationId[];
}

/** A sandbox with a working agent is never paused to make room (D17). */
export function hasWorkingAgent(state: SandboxState): boolean {
  return Object.values(state.attached).some((agent) => agent.activity === 'working');
}

/** Agent-paused when at least one agent waits and none works (D6). */
export function agentPause(state: SandboxState): 'confirmation' | 'rate_limit' | null {
  let reason: 'confirmation' | 'rate_limit' | null = null;
  for (const { activity } of Object.values(state.attached)) {
    if (activity === 'working') return null;
    if (activity === 'confirmation') reason = 'confirmation';
    else if (activity === 'rate_limit') reason ??= 'rate_limit';
  }
  return reason;
}
