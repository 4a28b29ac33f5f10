/**
 * I23: every session has a generation of its own, and is shown as PAUSED only while nobody works in it (D6, D14).
 * Owns the memory of generations that ran.
 */
import { hasWorkingAgent, type SandboxState } from '../../core/sandbox/state.ts';
import type { Moment, SafetyCheck } from './checker.ts';

export function sessionsOfTheirOwn(): SafetyCheck {
  const ran = new Map<string, number>();
  const resumed = new Map<string, number>();
  return ({ step }: Moment) => {
    const before = step.before as SandboxState | null;
    const after = step.after as SandboxState;
    const { sandboxId, phase, generation, status } = after;
    for (const command of step.commands) {
      if (command.type !== 'resumeSandbox') continue;
      if (command.generation <= (resumed.get(sandboxId) ?? 1))
        return `generation ${command.generation} is brought up for the second time`;
      resumed.set(sandboxId, command.generation);
    }
    if (phase !== 'running') return null;
    if (status === 'PAUSED' && hasWorkingAgent(after))
      return 'it is shown as PAUSED, and an agent works in it';
    const known = ran.get(sandboxId) ?? 0;
    ran.set(sandboxId, generation);
    return before?.phase === 'running' || generation > known
      ? null
      : `generation ${generation} runs for the second time`;
  };
}
