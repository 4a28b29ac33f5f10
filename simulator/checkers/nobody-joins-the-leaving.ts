/**
 * I14: a sandbox that is going accepts nobody: deletion and placement never both succeed (D11).
 * Owns the one check on its list of conversations.
 */
import type { SandboxPhase, SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

const LEAVING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'stopping',
  'archiving',
  'destroying',
  'errorStopping',
  'errorArchiving',
  'error',
  'errorDestroying',
  'errorEmpty',
  'missing',
]);

export function nobodyJoinsTheLeaving({ step }: Moment): string | null {
  const before = step.before as SandboxState | null;
  if (before === null || !LEAVING.has(before.phase)) return null;
  const { attached } = step.after as SandboxState;
  const joined = Object.keys(attached).find((id) => !(id in before.attached));
  return joined === undefined ? null : `conversation ${joined} joined while it was ${before.phase}`;
}
