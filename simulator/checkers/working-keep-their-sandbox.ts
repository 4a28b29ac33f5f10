/**
 * I26: no sandbox is paused for idleness or to make room under an agent that has taken up work (D9, D17).
 * Owns the memory of who works since when, by the true clock; what a look saw is checked by idle-means-idle.ts.
 */
import type { SandboxState } from '../../core/sandbox/state.ts';
import { PUNCTUAL, type Moment, type SafetyCheck } from './checker.ts';

export function workingKeepTheirSandbox(): SafetyCheck {
  const busy = new Map<string, ReadonlyMap<string, number>>();
  return ({ step, timeliness = PUNCTUAL }: Moment) => {
    const { event, at, address } = step;
    const before = step.before as SandboxState | null;
    const after = step.after as SandboxState;
    const known = busy.get(address.id);
    if (before?.attached !== after.attached) busy.set(address.id, busySince(after, known, at));
    if (before?.phase !== 'running' || after.phase !== 'pausing' || known === undefined) return null;
    if (event.type === 'pauseRequested' && event.reason === 'capacity' && known.size > 0)
      return `makes room, and ${[...known.keys()].join(', ')} works in it`;
    if (event.type !== 'idleReached') return null;
    // A clock that is off tells a look and a start of work apart no better than that.
    const seenBy = event.lookedAt + timeliness.clockOffMs;
    const late = [...known].find(([, since]) => since > seenBy);
    return late === undefined
      ? null
      : `paused as idle, and ${late[0]} works since ${late[1] - event.lookedAt} ms after the look`;
  };
}

function busySince(
  { attached }: SandboxState,
  known: ReadonlyMap<string, number> | undefined,
  at: number,
): ReadonlyMap<string, number> {
  const working = Object.entries(attached).filter(([, { activity }]) => activity === 'working');
  return new Map(working.map(([id]) => [id, known?.get(id) ?? at]));
}
