// All billed calls, in the order they were billed: in memory for exports, in a file when one is given.
// It must not price calls or know HTTP.

import { LedgerFile, loadLedgerFile } from './ledger-file.ts';
import type { LedgerRow } from './ledger-row.ts';
import { ledgerRowsMax } from './limits.ts';

export interface Ledger {
  /** Resolves when the row will survive a crash. Rejects when it cannot be kept; then the call must not be answered. */
  readonly append: (row: LedgerRow) => Promise<void>;
  /** The rows so far; the order never changes and rows are only added at the end. */
  readonly rows: () => readonly LedgerRow[];
  readonly close: () => Promise<void>;
}

/** Opens a ledger; without a path it lives in memory only. Throws when the file cannot be read or holds a line that is no row. */
export async function openLedger(path: string | null): Promise<Ledger> {
  const rows = path === null ? [] : [...(await loadLedgerFile(path))];
  const file = path === null ? null : await LedgerFile.open(path);
  return {
    append: async (row) => {
      if (rows.length >= ledgerRowsMax)
        throw new Error(`Cannot bill call: the ledger holds ${ledgerRowsMax} rows`);
      await file?.append(row);
      rows.push(row);
    },
    rows: () => rows,
    close: async () => file?.close(),
  };
}
