/**
 * I4: MISSING is for ever, and ERROR is left only by a deletion, or with its host (D8, D33).
 * Owns the one check on the public status.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function absorbingEnds({ step }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const after = step.after as SandboxState;
  if (before === null || before.status === after.status) return null;
  if (before.status === 'MISSING') return `MISSING became ${after.status}`;
  if (before.status !== 'ERROR') return null;
  if (after.status !== 'MISSING') return `ERROR became ${after.status}`;
  return after.deletedByUser || step.event.type === 'hostLost'
    ? null
    : 'ERROR became MISSING, and nobody deleted it';
}
