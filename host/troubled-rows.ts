/**
 * Rows of runs and items with the trouble that they are in at this moment, for users (D32).
 * Owns that it is read beside the rows; which trouble is whose is said in core/trouble.ts.
 */
import type { RunId } from '../core/ids.ts';
import type { RunItemRow, RunRow } from '../core/machine/projection.ts';
import { isCurrent, troubleOfItem, troubleOfRun } from '../core/current-trouble.ts';
import type { TroubleOf } from '../core/trouble.ts';
import type { RecordStore } from '../ports/record-store.ts';
import type { Troubles } from '../ports/troubles.ts';

export type RunRows = Pick<RecordStore, 'run' | 'runItems'>;

export interface TroubledStore {
  readonly records: RunRows;
  readonly troubles: Pick<Troubles, 'open'>;
}

export function troubledRows({ records, troubles }: TroubledStore): RunRows {
  const current = async (): Promise<readonly TroubleOf[]> => {
    const at = Date.now();
    return (await troubles.open()).filter((trouble) => isCurrent(trouble, at));
  };
  return {
    async run(id: RunId): Promise<RunRow | null> {
      const row = await records.run(id);
      if (row === null || row.phase === 'finished') return row;
      const open = await current();
      if (open.length === 0) return row;
      return { ...row, trouble: troubleOfRun(open, row, await records.runItems(id)) };
    },
    async runItems(id: RunId): Promise<readonly RunItemRow[]> {
      const [items, open] = [await records.runItems(id), await current()];
      if (open.length === 0) return items;
      return items.map((item) => ({ ...item, trouble: troubleOfItem(open, item) }));
    },
  };
}
