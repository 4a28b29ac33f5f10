/**
 * I30: who has ended for good stays so: nobody hosts it any more, and a cluster has closed it (D11).
 * Owns the one check on every machine, by the machine's own word for its end.
 */
import { machineOf } from '../../core/machine/machines.ts';
import type { Moment } from './checker.ts';

export function theEndedStayEnded({ step }: Moment): string | null {
  const { address, before, after, event } = step;
  const machine = machineOf(address.machine);
  if (before === null || !machine.done(before) || machine.done(after)) return null;
  return `${event.type} brought it back after its end`;
}
