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
}
