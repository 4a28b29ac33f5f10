/**
 * I10: no session is longer than its window, even of a working agent; only a boot opens one (D10).
 * Owns the one check; how long the window is only core/ knows.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import { sessionEndOf } from '../../core/sandbox/session.ts';
import { PUNCTUAL, type Moment } from './checker.ts';

export function sessionWindow({ step, timeliness = PUNCTUAL }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const { phase, sessionStartedAt } = step.after as SandboxState;
  const opened = sessionStartedAt !== null && sessionStartedAt !== before?.sessionStartedAt;
  if (opened && step.event.type !== 'sandboxReady') return `${step.event.type} opened a session window`;
  if (phase !== 'running' || sessionStartedAt === null) return null;
  const end = sessionEndOf(sessionStartedAt) + timeliness.clockOffMs;
  // What else happens at the very instant may come before the deadline.
  const isLate = step.event.type === 'deadline' ? step.at >= end : step.at > timeliness.upAfter(end);
  return isLate ? `it runs ${step.at - sessionStartedAt} ms after its boot` : null;
}
