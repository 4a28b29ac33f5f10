/**
 * I3: whatever is ordered of a runtime names the present generation (D14).
 * Owns the one check; a stale order would act on an incarnation that is over.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function fencedOrders({ step }: Moment): string | null {
  const { generation } = step.after as SandboxState;
  for (const command of step.commands) {
    if ('generation' in command && command.generation !== generation)
      return `${command.type} is for generation ${command.generation}, and ${generation} is the present one`;
  }
  return null;
}
