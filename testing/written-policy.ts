/**
 * The lifecycle policy under test, as a test writes it.
 * Owns names and defaults, which are those of a deployment; the length of a session is no part of it (D10).
 */
import {
  CAPACITY_INSTALLATION_DEFAULT,
  CAPACITY_USER_DEFAULT,
  CONVERSATIONS_PER_SANDBOX_DEFAULT,
  DELETION_TIME_DEFAULT_MS,
  IDLE_TIME_DEFAULT_MS,
} from '../core/limits.ts';
import type { GroupingStrategy } from '../core/status.ts';
import type { Policy } from '../simulator/models/model-options.ts';
import { milliseconds, type Time } from './written-time.ts';

/** Each field may be left out. */
export interface WrittenPolicy {
  /** Null switches the rule off; 20 minutes by default. */
  readonly idleTime?: Time | null;
  /** Null switches the rule off; 10 days by default. */
  readonly deletionTime?: Time | null;
  /** Sandboxes up at once, all users together; 100 by default. */
  readonly sandboxes?: number;
  /** Of one user; everything in a test belongs to one. By default 10, or `sandboxes` where that is given. */
  readonly sandboxesPerUser?: number;
  /** 20 by default. */
  readonly conversationsPerSandbox?: number;
  /** `refuse` by default. */
  readonly onFull?: 'refuse' | 'queue' | 'pause_longest_idle';
  /** `NO_GROUPING` by default. */
  readonly grouping?: GroupingStrategy;
}

/** @throws RangeError when a time is no duration */
export function policyFrom(written: WrittenPolicy): Policy {
  const { sandboxes } = written;
  return {
    limits: {
      idleTimeMs: limit(written.idleTime, IDLE_TIME_DEFAULT_MS),
      deletionTimeMs: limit(written.deletionTime, DELETION_TIME_DEFAULT_MS),
    },
    capacity: {
      installationMax: sandboxes ?? CAPACITY_INSTALLATION_DEFAULT,
      userMax: written.sandboxesPerUser ?? sandboxes ?? CAPACITY_USER_DEFAULT,
      conversationsPerSandboxMax: written.conversationsPerSandbox ?? CONVERSATIONS_PER_SANDBOX_DEFAULT,
    },
    onFull: written.onFull ?? 'refuse',
    grouping: written.grouping ?? 'NO_GROUPING',
  };
}

function limit(written: Time | null | undefined, defaultMs: number): number | null {
  if (written === undefined) return defaultMs;
  return written === null ? null : milliseconds(written);
}
