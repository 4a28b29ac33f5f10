/**
 * The external gateway's own account of what it billed.
 * Owns the interface; formats and addresses are the implementation's business.
 */
import type { GatewayRow } from '../core/money/spend.ts';

/** How an export in no known format is read. */
export interface ExportReading {
  /** A field of ours → the column that holds it, before the names that are known anyway. */
  readonly columns?: Readonly<Record<string, string>>;
  /** A field of ours → what its number is multiplied by, as a decimal: `0.01` for an amount in cents. */
  readonly factors?: Readonly<Record<string, string>>;
  /** A currency → USD for one unit of it, as a decimal. A row in any other currency is refused. */
  readonly rates?: Readonly<Record<string, string>>;
}

/** Reads the bill of the gateway, now or from a saved file. */
export interface GatewayExport {
  /**
   * Rows with `from <= startedAt < to`.
   * @throws ParleyError export_unavailable (try again), export_invalid (names the row)
   */
  rows(interval: { readonly from: number; readonly to: number }): Promise<readonly GatewayRow[]>;
  /**
   * Every row of an export that was saved, in groups one after the other, to be gone through once; the ending of the path, .jsonl, .json or .csv,
   * says how it is written.
   * @throws ParleyError export_invalid when the file is missing, empty or cut off, has another ending, or holds a row
   * that cannot be read
   */
  fileRows(path: string, reading?: ExportReading): AsyncIterable<Iterable<GatewayRow>>;
}
