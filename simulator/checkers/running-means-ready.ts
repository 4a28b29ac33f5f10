/**
 * I16: a sandbox runs only after its Agent Server answered in this generation.
 * Owns the one check at the moment it begins to run.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment } from './checker.ts';

export function runningMeansReady({ step, facts }: Moment): string | null {
  const before = step.before as SandboxState | null;
  const { phase, generation, sandboxId } = step.after as SandboxState;
  if (phase !== 'running' || before?.phase === 'running') return null;
  if (step.event.type !== 'sandboxReady') return `${step.event.type} made it run`;
  // It may have died since its Agent Server answered: the answer can be late.
  const wasReady = facts.live.get(sandboxId)?.has(generation) === true || facts.wasUp(sandboxId, generation);
  return wasReady ? null : `generation ${generation} is not up`;
}
