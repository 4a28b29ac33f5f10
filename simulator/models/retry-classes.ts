/**
 * How often each command is tried again, and after which wait.
 * Owns the simulator's copy of the product's retry classes: this folder must not import activities, so a test compares.
 */
import type { ActivityCommandType } from '../../core/command.ts';

export interface RetryClass {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Tries in all; null for until the machine cancels the command. */
  readonly attemptsMax: number | null;
}

const PATIENT: RetryClass = { initialMs: 500, maxMs: 15_000, attemptsMax: null };
const ONCE: RetryClass = { initialMs: 0, maxMs: 0, attemptsMax: 1 };
const BRIEF: RetryClass = { initialMs: 500, maxMs: 15_000, attemptsMax: 8 };

export const RETRY_CLASSES: Readonly<Record<ActivityCommandType, RetryClass>> = {
  createSandbox: PATIENT,
  resumeSandbox: PATIENT,
  stopSandbox: BRIEF,
  archiveWorkspace: ONCE,
  destroySandbox: BRIEF,
  reserveSlot: PATIENT,
  watchIdle: PATIENT,
  placeConversation: PATIENT,
  prepareRepository: BRIEF,
  runSetupScript: BRIEF,
  setUpGitHooks: BRIEF,
  setUpSkills: BRIEF,
  openAgent: BRIEF,
  deliverItem: BRIEF,
  watchAgent: PATIENT,
  interruptAgent: BRIEF,
  removeConversation: PATIENT,
  record: PATIENT,
  startConversation: BRIEF,
  verifyItem: BRIEF,
  collectItem: BRIEF,
  cleanUpSandbox: PATIENT,
  reconcileRun: BRIEF,
  reportRun: BRIEF,
};

/** Doublings beyond this change nothing: every class has met its longest wait. */
const DOUBLINGS_MAX = 20;

/** Milliseconds until the next try; null when the tries are used up. `tried` counts tries before the one that failed. */
export function waitBeforeNext(type: ActivityCommandType, tried: number): number | null {
  const { initialMs, maxMs, attemptsMax } = RETRY_CLASSES[type];
  if (attemptsMax !== null && tried + 1 >= attemptsMax) return null;
  return Math.min(maxMs, initialMs * 2 ** Math.min(tried, DOUBLINGS_MAX));
}
