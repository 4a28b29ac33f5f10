/**
 * Notices between machines: snapshots of the sender, newest wins by (generation, sequence).
 * Owns their shapes and the comparison; a delta would depend on the order of delivery and is not used on purpose.
 */
import type { ConversationId, SandboxId } from '../ids.ts';
import type { ExecutionStatus, PauseReason, SandboxStatus, StartTaskStatus, Transition } from '../status.ts';

export interface Stamp {
  readonly generation: number;
  readonly sequence: number;
}

/** By generation, then by sequence; anything is newer than null. */
export function isNewer(candidate: Stamp, than: Stamp | null): boolean {
  if (than === null) return true;
  if (candidate.generation !== than.generation) return candidate.generation > than.generation;
  return candidate.sequence > than.sequence;
}

/** What a sandbox sends its conversations. */
export interface SandboxSnapshot extends Stamp {
  readonly sandboxId: SandboxId;
  readonly status: SandboxStatus;
  readonly pauseReason: PauseReason | null;
  readonly transition: Transition | null;
  /** True while the runtime is up and its Agent Server answered in this generation. */
  readonly usable: boolean;
  /** Why it is in ERROR or MISSING, or why its last resume failed; null otherwise. */
  readonly detail: string | null;
}

/** The activity of an agent, as far as its sandbox must know it (D6). */
export type AgentActivity = 'resting' | 'working' | 'confirmation' | 'rate_limit';

/** What a conversation sends the run that started it. */
export interface ConversationSnapshot extends Stamp {
  readonly conversationId: ConversationId;
  /** Position in its run's plan; null outside a run. */
  readonly itemIndex: number | null;
  readonly startTask: StartTaskStatus;
  readonly sandboxId: SandboxId | null;
  readonly sandboxStatus: SandboxStatus | null;
  /** The pool of its run was full, and the sandbox is none of it; absent otherwise. */
  readonly spilled?: true;
  /** It waits for a slot, and who has them (D29); absent otherwise. */
  readonly waitsFor?: string;
  readonly pauseReason: PauseReason | null;
  readonly executionStatus: ExecutionStatus | null;
  /** True when the agent was working as its session limit or a crash hit, and has not been continued (D15). */
  readonly interrupted: boolean;
  /** A limit of the item that ended the agent's work; null when none did (D28). */
  readonly limitReached: LimitReached | null;
  /** Nothing queued, nothing in flight: the status is final until a client or the run sends something. */
  readonly settled: boolean;
  readonly detail: string | null;
  readonly deleted: boolean;
}

/** Which limit of its item ended a conversation. */
export type LimitReached = 'usd' | 'no_progress' | 'turns';
