/**
 * A saved export as one list, for tests.
 * Owns the collecting.
 */
import type { GatewayRow } from '../../../core/money/spend.ts';
import { streamExportFile } from '../../../clients/gateway/export-file.ts';
import type { ExportReading } from '../../../ports/gateway-export.ts';

export async function rowsOfFile(path: string, reading: ExportReading = {}): Promise<readonly GatewayRow[]> {
  const rows: GatewayRow[] = [];
  for await (const list of streamExportFile(path, reading)) rows.push(...list);
  return rows;
}
