/**
 * I5: once a deletion is through, no runtime object is alive (D14).
 * Owns the one check; a resume in flight must not undo a deletion.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function deletedStaysGone({ step, facts }: Moment): string | null {
  const { phase, sandboxId } = step.after as SandboxState;
  if (phase !== 'missing' && phase !== 'errorEmpty') return null;
  const alive = facts.live.get(sandboxId)?.size ?? 0;
  return alive === 0 ? null : `it is ${phase}, and a runtime object of it is alive`;
}
