/**
 * I27: nobody is found past a deadline: a timer strikes when it is due (D13), and not with whatever comes next.
 * Owns the one check on every machine, by the machine's own word for its deadline.
 */
import { addressKey } from '../../core/ids.ts';
import { machineOf } from '../../core/machine/machines.ts';
import { PUNCTUAL, type Moment, type SafetyCheck } from './checker.ts';

interface Due {
  readonly deadline: number;
  /** The true instant of the step that set it: a deadline that is over when it is set strikes at once. */
  readonly setAt: number;
}

export function deadlinesAreMet(): SafetyCheck {
  const dues = new Map<string, Due>();
  return ({ step, timeliness = PUNCTUAL }: Moment) => {
    const { at, address, after } = step;
    const machine = machineOf(address.machine);
    const key = addressKey(address);
    const due = dues.get(key);
    const deadline = machine.done(after) ? null : machine.deadline(after);
    if (deadline === null) dues.delete(key);
    else if (due?.deadline !== deadline) dues.set(key, { deadline, setAt: at });
    if (due === undefined) return null;
    const latest = timeliness.upAfter(Math.max(due.deadline + timeliness.clockOffMs, due.setAt));
    return at <= latest ? null : `looked at ${at - latest} ms after its deadline`;
  };
}
