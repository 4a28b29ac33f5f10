/**
 * I21: what was wished last of a sandbox in transition is what happens when the transition is over (D8).
 * Owns the memory of the last wish; a wish that somebody answered with a refusal is none.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment, SafetyCheck } from './checker.ts';

const COMING_UP = ['starting', 'reserving', 'resuming'];

export function laterRequestWins(): SafetyCheck {
  const wishes = new Map<string, 'pause' | 'resume'>();
  return ({ step }: Moment) => {
    const { event, address } = step;
    const before = (step.before as SandboxState | null)?.phase ?? 'starting';
    const { phase } = step.after as SandboxState;
    const wish = wishes.get(address.id);
    if (phase !== before && !(COMING_UP.includes(before) && COMING_UP.includes(phase)))
      wishes.delete(address.id);
    else if (event.type === 'pauseRequested') wishes.set(address.id, 'pause');
    else if (event.type === 'resumeRequested') wishes.set(address.id, 'resume');
    if (event.type === 'sandboxReady' && phase !== before)
      return wish === 'pause' && phase === 'running'
        ? 'a pause was accepted, and it runs'
        : wish !== 'pause' && phase === 'pausing'
          ? 'it pauses, and nobody wishes that any more'
          : null;
    if (event.type !== 'sandboxStopped' || before !== 'pausing') return null;
    if (wish === 'resume')
      return phase === 'released' ? 'a resume was accepted, and it stays released' : null;
    return phase === 'reserving' ? 'it resumes, and nobody wishes that any more' : null;
  };
}
