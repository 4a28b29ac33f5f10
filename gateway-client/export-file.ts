/**
 * An export that somebody saved as a file.
 * Owns the choice of the format by the file's ending; rows are normalised in export-rows.ts.
 */
import { readFile, stat } from 'node:fs/promises';
import { ParleyError } from '../core/parley-error.ts';
import type { GatewayRow } from '../core/spend.ts';
import { parseExport, type ExportFormat } from './export-rows.ts';
import { EXPORT_BYTES_MAX } from './limits.ts';

/** @throws ParleyError export_invalid, which is definite: the same file reads the same the next time */
export async function readExportFile(path: string): Promise<readonly GatewayRow[]> {
  const format = formatOf(path);
  return parseExport(await readText(path), format);
}

function formatOf(path: string): ExportFormat {
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.csv$/i.test(path)) return 'csv';
  throw new ParleyError(
    'export_invalid',
    `Cannot read the export "${path}": it ends neither in .jsonl nor in .csv`,
  );
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > EXPORT_BYTES_MAX) throw new Error(`it has more than ${EXPORT_BYTES_MAX} bytes`);
    return await readFile(path, 'utf8');
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'there is no such file' : cause instanceof Error ? cause.message : String(cause);
    throw new ParleyError('export_invalid', `Cannot read the export "${path}": ${why}`, { cause });
  }
}
