/**
 * I1: at most one live runtime object per sandbox, and so at most one generation alive.
 * Owns the one check; must not ask the machine what is up.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function oneLiveObject({ step, facts }: Moment): string | null {
  const { sandboxId } = step.after as SandboxState;
  const generations = facts.live.get(sandboxId);
  if (generations === undefined || generations.size <= 1) return null;
  return `generations ${[...generations].join(', ')} are alive at once`;
}
