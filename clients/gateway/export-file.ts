/**
 * An export that an operator saved as a file.
 * Owns the choice of the format by the file's ending, and reading one row after the other where the format lets it.
 */
import { isAscii } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { ParleyError } from '../../core/parley-error.ts';
import type { GatewayRow } from '../../core/money/spend.ts';
import type { ExportReading } from '../../ports/gateway-export.ts';
import { streamCsv } from './csv.ts';
import { normalise, parseExport, parseLine, type ExportFormat } from './export-rows.ts';
import { EXPORT_BYTES_MAX } from './limits.ts';
import { FieldReader, type RawRow } from './row-fields.ts';

/** Rows in one list of a file that is read row by row. */
const LIST_ROWS = 1_000;
/** Long beside a row, short beside the memory. */
const PIECE_BYTES = 256 * 1024;

/**
 * JSON lines and CSV come one row after the other, however long the file is; JSON is read whole and is bounded.
 * @throws ParleyError export_invalid, which is definite: the same file reads the same the next time
 */
export async function* streamExportFile(
  path: string,
  reading: ExportReading = {},
): AsyncIterable<readonly GatewayRow[]> {
  const format = formatOf(path);
  if (format === 'json') {
    yield parseExport(await readText(path), format, reading);
    return;
  }
  const fields = new FieldReader(reading);
  let position = 0;
  for await (const list of format === 'csv' ? csvRows(path) : jsonRows(path)) {
    yield list.map((row) => {
      position += 1;
      return normalise(row, position, fields);
    });
  }
  if (position > 0) return;
  throw new ParleyError(
    'export_invalid',
    `Cannot read the export "${path}": it has no row, so it is empty or cut off; export it again, or write [] into a .json file if nothing was billed`,
  );
}

async function* csvRows(path: string): AsyncIterable<readonly RawRow[]> {
  const stream = createReadStream(path);
  try {
    let list: RawRow[] = [];
    for await (const row of streamCsv(stream)) {
      list.push(row);
      if (list.length < LIST_ROWS) continue;
      yield list;
      list = [];
    }
    yield list;
  } catch (cause) {
    throw cause instanceof ParleyError ? cause : unreadable(path, cause);
  } finally {
    stream.destroy();
  }
}

async function* jsonRows(path: string): AsyncIterable<readonly RawRow[]> {
  let position = 0;
  for await (const lines of linesOf(path)) {
    const rows: RawRow[] = [];
    for (const line of lines) {
      const text = position === 0 ? line.replace(/^\uFEFF/, '') : line;
      if (text.trim() === '') continue;
      position += 1;
      rows.push(parseLine(text, position));
    }
    yield rows;
  }
}

function formatOf(path: string): ExportFormat {
  if (/\.(jsonl|ndjson)$/i.test(path)) return 'jsonl';
  if (/\.json$/i.test(path)) return 'json';
  if (/\.csv$/i.test(path)) return 'csv';
  throw new ParleyError(
    'export_invalid',
    `Cannot read the export "${path}": it ends in none of .jsonl, .json and .csv`,
  );
}

/** The lines of one piece of the file after the other; line ends are those of every system. */
async function* linesOf(path: string): AsyncIterable<readonly string[]> {
  const stream = createReadStream(path, { highWaterMark: PIECE_BYTES });
  try {
    let begun: Buffer[] = [];
    for await (const piece of stream as AsyncIterable<Buffer>) {
      const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r'));
      if (end < 0) {
        begun.push(piece);
        continue;
      }
      yield linesIn([...begun, piece.subarray(0, end)]);
      begun = [piece.subarray(end + 1)];
    }
    yield linesIn(begun);
  } catch (cause) {
    throw unreadable(path, cause);
  } finally {
    stream.destroy();
  }
}

/** A line end that is split between two pieces makes an empty line, which does not count. */
function linesIn(pieces: readonly Buffer[]): readonly string[] {
  const bytes = Buffer.concat(pieces);
  // What has no other characters is copied as it is, several times as fast as it is decoded.
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8').split(/\r\n|\r|\n/);
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > EXPORT_BYTES_MAX) throw new Error(`it has more than ${EXPORT_BYTES_MAX} bytes`);
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): ParleyError {
  const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
  const why = isMissing ? 'there is no such file' : cause instanceof Error ? cause.message : String(cause);
  return new ParleyError('export_invalid', `Cannot read the export "${path}": ${why}`, { cause });
}
