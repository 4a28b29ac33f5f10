/**
 * CSV with a header row, by RFC 4180.
 * Owns the choice of the parser and its settings.
 */
import { parse } from 'csv-parse/sync';
import { ParleyError } from '../core/parley-error.ts';

/** @throws ParleyError export_invalid, with the line the parser names */
export function parseCsv(text: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    return parse(text, { columns: true, skip_empty_lines: true, bom: true });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ParleyError('export_invalid', `Cannot read the export: ${why}`, { cause });
  }
}
