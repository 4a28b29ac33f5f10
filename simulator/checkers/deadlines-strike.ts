/**
 * L8: no deadline is in the past (D13): whoever waits for an instant was looked at when it came.
 * Owns the one check on every machine, by the machine's own word for its deadline.
 */
import { addressKey } from '../../core/ids.ts';
import { machineOf } from '../../core/machine/machines.ts';
import { PUNCTUAL, type Finding, type Rest } from './checker.ts';

export function deadlinesStrike({ entities, now, timeliness = PUNCTUAL }: Rest): readonly Finding[] {
  return entities.flatMap(({ address, state }) => {
    const machine = machineOf(address.machine);
    const deadline = machine.done(state) ? null : machine.deadline(state);
    if (deadline === null) return [];
    const overMs = now - deadline - timeliness.settleMs - timeliness.clockOffMs;
    if (overMs <= 0) return [];
    return [{ entity: addressKey(address), problem: `its deadline is over since ${overMs} ms` }];
  });
}
