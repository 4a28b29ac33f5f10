/**
 * What becomes of a configuration in the process that carries sandboxes out, as a desk beside it reports it.
 * Owns the wait for that process and the sentences; where it says how it stands is configuration-note.ts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Problem } from '../config/problem.ts';
import type { FollowedConfiguration, Standing } from './followed-configuration.ts';

export interface ConfigurationOwner {
  /** Null when it follows no file. */
  standing(): Standing | null;
  /** Whether the text of this revision is in force there; called after it was written, and answered within seconds. */
  takesUp(revision: string): Promise<boolean>;
}

/** It polls every second, reads and checks; a caller that waits for an answer does not wait much longer than that. */
const OWNER_MS_MAX = 10_000;
const OWNER_POLL_MS = 50;

export function configurationOwner(standing: () => Standing | null): ConfigurationOwner {
  return {
    standing,
    async takesUp(revision) {
      const until = Date.now() + OWNER_MS_MAX;
      for (;;) {
        const now = standing();
        if (now?.revision === revision) return now.refused.length === 0;
        if (now === null || Date.now() > until) return false;
        await pause(OWNER_POLL_MS);
      }
    },
  };
}

/** What of the text of this revision does not hold, and why. */
export interface HeldBack {
  /** Keys. */
  readonly needsRestart: readonly string[];
  readonly warnings: readonly string[];
}

export function heldBack(
  followed: FollowedConfiguration,
  owner: ConfigurationOwner | null,
  revision: string,
): HeldBack {
  const own = followed.standing;
  const warnings = ownWarnings(own, revision);
  if (owner === null) return { needsRestart: own.needsRestart, warnings };
  const theirs = owner.standing();
  // What such a process began with is not known; that it was what this one began with is the best guess.
  if (theirs === null)
    return { needsRestart: followed.changedSinceStart, warnings: [...warnings, NO_FOLLOWER] };
  const needsRestart = [...new Set([...own.needsRestart, ...theirs.needsRestart])];
  // The same mistake in the same text is reported once.
  return { needsRestart, warnings: warnings.length > 0 ? warnings : ownerWarnings(theirs, revision) };
}

const NOT_SEEN = 'The text has just changed and was not looked at yet: the earlier configuration is in force';
const NO_FOLLOWER =
  'The process that owns the data directory follows no file: there, what changed holds after its next start';

function ownWarnings({ revision: seen, refused }: Standing, revision: string): readonly string[] {
  if (seen !== revision) return [NOT_SEEN];
  return refused.map((problem) => `The earlier configuration stays in force: ${said(problem)}`);
}

function ownerWarnings({ file, revision: seen, refused }: Standing, revision: string): readonly string[] {
  if (seen !== revision)
    return [`The process that owns the data directory has not taken this text up: it follows "${file}"`];
  return refused.map(
    (problem) => `The process that owns the data directory keeps the earlier configuration: ${said(problem)}`,
  );
}

function said({ file, line, column, message, remedy }: Problem): string {
  const place = line === null ? file : `${file}:${line}:${column ?? 1}`;
  return `${place}: ${message}${remedy === null ? '' : `: ${remedy}`}`;
}
