// Rows as a stream of text, JSON lines or CSV (RFC 4180), a bounded number of rows at a time.
// It must not choose rows; the caller's filter does.

import { ledgerColumns } from './ledger-row.ts';
import type { LedgerRow } from './ledger-row.ts';
import { exportRowsPerChunk } from './limits.ts';

export type ExportFormat = 'jsonl' | 'csv';

/** The media type of each format. */
export const exportMediaTypes: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** The export, chunk by chunk; rows billed after the first chunk was asked for are not in it. */
export function* exportChunks(
  rows: readonly LedgerRow[],
  options: { readonly format: ExportFormat; readonly isWanted: (row: LedgerRow) => boolean },
): Generator<string> {
  const rowCount = rows.length;
  const encode = options.format === 'csv' ? csvLine : jsonLine;
  if (options.format === 'csv') yield csvRecord(ledgerColumns);
  for (let start = 0; start < rowCount; start += exportRowsPerChunk) {
    const slice = rows.slice(start, Math.min(start + exportRowsPerChunk, rowCount));
    const text = slice.filter(options.isWanted).map(encode).join('');
    if (text !== '') yield text;
  }
}

function jsonLine(row: LedgerRow): string {
  return `${JSON.stringify(row)}\n`;
}

/** Texts and numbers as they are, null as nothing, lists and objects as JSON. */
function csvLine(row: LedgerRow): string {
  return csvRecord(
    ledgerColumns.map((column) => {
      const value = row[column];
      if (value === null) return '';
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    }),
  );
}

function csvRecord(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
