/**
 * I24: a deletion that a user asked for is never undone, a timer's waits for its archive, and the Deletion Time counts
 * from one release (D10, D12).
 * Owns the checks on what a sandbox remembers of its deletion.
 */
import type { SandboxPhase, SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

/** Where a deletion that was asked for may be; there is no way back. */
const GOING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'stopping',
  'archiving',
  'destroying',
  'errorStopping',
  'errorArchiving',
  'errorDestroying',
  'missing',
]);

export function deletionsAreFinal({ step }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const after = step.after as SandboxState;
  return undone(step, after) ?? tooSoon(step, after) ?? begunAnew(step, before, after);
}

function undone({ event }: Moment['step'], { phase, deletedByUser }: SandboxState): string | null {
  const isAsked = deletedByUser || (event.type === 'deleteRequested' && phase !== 'missing');
  if (isAsked && !GOING.has(phase)) return `it is ${phase}, and its user has deleted it`;
  return isAsked && !deletedByUser ? 'its user has deleted it, and it does not know that' : null;
}

function tooSoon(
  { commands }: Moment['step'],
  { archive, deletedByUser, phase }: SandboxState,
): string | null {
  if (archive !== 'archive_failed' || deletedByUser || phase !== 'destroying') return null;
  return commands.some(({ type }) => type === 'destroySandbox')
    ? 'a timer removes its storage, and its archive failed'
    : null;
}

/** A resume that failed does not start it anew; a session in between does. */
function begunAnew(
  { event }: Moment['step'],
  before: SandboxState | null,
  { releasedAt }: SandboxState,
): string | null {
  const known = before?.releasedAt ?? null;
  return known === null || releasedAt === null || known === releasedAt
    ? null
    : `${event.type} starts its Deletion Time anew`;
}
