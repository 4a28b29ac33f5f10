/**
 * I22: who waits for a resume is answered, and answered once (D7).
 * Owns the memory of answers, and the look at who still waits when a sandbox has come to rest.
 */
import { transitionOf } from '../../core/sandbox/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { Moment, SafetyCheck } from './checker.ts';

export function waitersAnswered(): SafetyCheck {
  const answered = new Set<string>();
  return ({ step }: Moment) => {
    for (const command of step.commands) {
      if (command.type !== 'send' || command.event.type !== 'resumeAnswered') continue;
      const { requestId } = command.event;
      if (answered.has(requestId)) return `request "${requestId}" is answered again`;
      answered.add(requestId);
    }
    const state = step.after as SandboxState;
    const [waiter] = state.waiters;
    if (waiter === undefined || state.phase === 'starting' || transitionOf(state) !== null) return null;
    return `request "${waiter.requestId}" waits, and it is ${state.phase}`;
  };
}
