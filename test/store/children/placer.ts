/** Places conversations as fast as it can and prints one line for each. Arguments: database, first number, how many. */
import { writeSync } from 'node:fs';
import { openStore } from '../../../store/open-store.ts';
import { atTheGate } from './gate.ts';
import { LIMITS, placeRequest } from '../../contract/store-rows.ts';

export async function runPlacer(args: readonly string[]): Promise<void> {
  const [database = '', first = '1', count = '1'] = args;
  const store = await openStore({ kind: 'sqlite', path: database });
  const limits = { ...LIMITS, userMax: 1 };
  await atTheGate();
  const numbers = Array.from({ length: Number(count) }, (_, index) => Number(first) + index);
  const outcomes = await Promise.all(
    numbers.map((number) => store.placement.place(placeRequest(number, { limits }))),
  );
  for (const outcome of outcomes) {
    if (outcome.kind === 'warm_lost') throw new Error('no warm sandbox was named');
    if (outcome.kind === 'waits') throw new Error('none of them belongs to a run');
    writeSync(1, `${outcome.kind === 'refused' ? outcome.refusal.code : outcome.sandboxId}\n`);
  }
  await store.close();
}
