/**
 * The external gateway's own account of what it billed.
 * Owns the interface; formats and addresses are the implementation's business.
 */
import type { GatewayRow } from '../core/spend.ts';

export interface GatewayExport {
  /**
   * Rows with `from <= startedAt < to`.
   * @throws ParleyError export_unavailable (ask again), export_invalid (names the row)
   */
  rows(interval: { readonly from: number; readonly to: number }): Promise<readonly GatewayRow[]>;
  /**
   * Every row of an export that somebody saved; the ending of the path, .jsonl or .csv, says how it is written.
   * @throws ParleyError export_invalid when the file is missing, has another ending, or holds a row that cannot be read
   */
  fileRows(path: string): Promise<readonly GatewayRow[]>;
}
