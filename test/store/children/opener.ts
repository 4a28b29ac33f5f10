/** Opens a store that may be new, writes one row, and closes it. Arguments: database, number. */
import { openStore } from '../../../store/open-store.ts';
import { atTheGate } from './gate.ts';
import { spendRow } from '../../contract/store-rows.ts';

export async function runOpener(args: readonly string[]): Promise<void> {
  const [database = '', number = ''] = args;
  await atTheGate();
  const store = await openStore({ kind: 'sqlite', path: database });
  await store.spend.write([spendRow(`call-${number}`)]);
  await store.close();
}
