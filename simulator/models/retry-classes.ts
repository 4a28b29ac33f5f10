/**
 * How often each command is tried again, and after which wait.
 * Owns the simulator's copy of the product's retry classes: this folder must not import activities, so a test compares.
 */
import type { ActivityCommandType } from '../../core/machine/command.ts';
import { waitBeforeRetry, type RetryPolicy } from '../../core/machine/retry.ts';

const PATIENT: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: null };
const ONCE: RetryPolicy = { initialMs: 0, maxMs: 0, attemptsMax: 1 };
const BRIEF: RetryPolicy = { initialMs: 500, maxMs: 15_000, attemptsMax: 8 };

export const RETRY_CLASSES: Readonly<Record<ActivityCommandType, RetryPolicy>> = {
  createSandbox: PATIENT,
  resumeSandbox: PATIENT,
  stopSandbox: BRIEF,
  archiveWorkspace: ONCE,
  destroySandbox: BRIEF,
  reserveSlot: PATIENT,
  offerRoom: PATIENT,
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
  warmPool: BRIEF,
  reconcileRun: BRIEF,
  reportRun: BRIEF,
  notifyOfRun: PATIENT,
};

/** Milliseconds until the next try of a command; null when the tries are used up. */
export function waitBeforeNext(type: ActivityCommandType, tried: number): number | null {
  return waitBeforeRetry(RETRY_CLASSES[type], tried);
}
