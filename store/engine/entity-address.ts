/**
 * Addresses of entities as two columns.
 * Owns the way back from text; must not know a table.
 */
import type { EntityAddress, MachineName } from '../../core/ids.ts';

/** Only addresses were ever written, so the text is one of their names. */
export function address(row: { readonly machine: string; readonly id: string }): EntityAddress {
  return { machine: row.machine as MachineName, id: row.id };
}
