/**
 * I6: a workspace is removed only after its archive is durable, or its failure recorded (D12).
 * Owns the one check at the order to remove.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function archivedBeforeRemoved({ step, facts }: Moment): string | null {
  const state = step.after as SandboxState;
  if (!state.everReady || !step.commands.some(({ type }) => type === 'destroySandbox')) return null;
  if (state.archive === 'none') return 'its storage is removed, and there is no archive';
  if (state.archive === 'stored' && !facts.archived.has(state.sandboxId))
    return 'its archive counts as stored, and there is none';
  return null;
}
