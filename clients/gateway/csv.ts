/**
 * CSV with a header row, by RFC 4180.
 * Owns the choice of the parser and its settings.
 */
import type { Readable } from 'node:stream';
import { CsvError, parse as parser } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { ParleyError } from '../../core/parley-error.ts';

const SETTINGS = { columns: true, skip_empty_lines: true, bom: true } as const;

/** @throws ParleyError export_invalid, with the line the parser names */
export function parseCsv(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return parse(text, SETTINGS);
  } catch (cause) {
    throw invalid(cause);
  }
}

/** One row after the other. @throws ParleyError export_invalid; what the stream throws */
export async function* streamCsv(stream: Readable): AsyncIterable<Readonly<Record<string, unknown>>> {
  const rows = parser(SETTINGS);
  stream.on('error', (error) => rows.destroy(error));
  try {
    for await (const row of stream.pipe(rows)) yield row as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw cause instanceof CsvError ? invalid(cause) : cause;
  }
}

function invalid(cause: unknown): ParleyError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ParleyError('export_invalid', `Cannot read the export: ${why}`, { cause });
}
