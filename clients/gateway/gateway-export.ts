/**
 * Reading the external gateway's export: over HTTP, or from a file that an operator saved.
 * Owns address, key and bounds; rows are normalised in export-rows.ts.
 */
import { stat } from 'node:fs/promises';
import { request } from 'undici';
import { ParleyError } from '../../core/parley-error.ts';
import type { GatewayRow } from '../../core/money/spend.ts';
import type { ExportReading, GatewayExport } from '../../ports/gateway-export.ts';
import { ACCEPT_CODING, decodedBody, readyCodings, type CodedBody } from './content-coding.ts';
import { streamExportFile } from './export-file.ts';
import { threadedRows } from './export-thread.ts';
import { parseExport, type ExportFormat } from './export-rows.ts';
import { gatewayDispatcher } from './gateway-connection.ts';
import { EXPORT_BYTES_MAX, THREAD_BYTES_MIN } from './limits.ts';

interface GatewayExportOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly format: ExportFormat;
}

/** An export is a batch job of the gateway; it may take its time. */
const EXPORT_TIMEOUT_MS = 120_000;
/** Of a gateway's refusal, as much as a person reads. */
const REFUSAL_CHARACTERS_MAX = 300;

/**
 * `options` are null where no export is configured: then only files can be read. `reader` is the program that reads
 * long files on a thread; without it they are read on this one.
 */
export function createGatewayExport(
  options: GatewayExportOptions | null,
  reader: string | null = null,
): GatewayExport {
  return {
    rows: (interval) => fetchRows(options, interval),
    fileRows: (path, reading) => fileRows(path, reading, reader),
  };
}

async function* fileRows(
  path: string,
  reading: ExportReading = {},
  reader: string | null,
): AsyncIterable<Iterable<GatewayRow>> {
  const isLong = !/\.json$/i.test(path) && (await bytesOf(path)) >= THREAD_BYTES_MIN;
  if (reader !== null && isLong) yield* threadedRows(reader, { path, reading });
  else yield* streamExportFile(path, reading);
}

/** 0 for a file that cannot be read: the later read reports why. */
async function bytesOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function fetchRows(
  options: GatewayExportOptions | null,
  interval: { readonly from: number; readonly to: number },
): Promise<readonly GatewayRow[]> {
  if (options === null) {
    throw new ParleyError(
      'export_unavailable',
      'Cannot fetch the export of the gateway: `gateway.export` is not configured; reconcile with `rows: proxy` or a file instead',
    );
  }
  const url = new URL(options.url);
  url.searchParams.set('format', options.format);
  url.searchParams.set('from', new Date(interval.from).toISOString());
  url.searchParams.set('to', new Date(interval.to).toISOString());
  const rows = parseExport(await fetchText(url, options.apiKey), options.format);
  // A gateway that does not know the parameters sends everything it has.
  return rows.filter(({ startedAt }) => startedAt >= interval.from && startedAt < interval.to);
}

async function fetchText(url: URL, apiKey: string): Promise<string> {
  try {
    const plain = { 'accept-encoding': ACCEPT_CODING };
    const headers = apiKey === '' ? plain : { ...plain, authorization: `Bearer ${apiKey}` };
    const response = await request(url, {
      dispatcher: gatewayDispatcher(),
      headers,
      headersTimeout: EXPORT_TIMEOUT_MS,
      bodyTimeout: EXPORT_TIMEOUT_MS,
    });
    const text = await boundedText(response.body, response.headers['content-encoding']);
    if (response.statusCode === 200) return text;
    throw new Error(`status ${response.statusCode}: ${text.slice(0, REFUSAL_CHARACTERS_MAX)}`);
  } catch (cause) {
    if (cause instanceof ParleyError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ParleyError('export_unavailable', `Cannot fetch the export of the gateway: ${why}`, { cause });
  }
}

async function boundedText(body: AsyncIterable<Uint8Array>, coding: CodedBody['coding']): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > EXPORT_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  // Rows that are missing would be calls without a bill.
  const coded = { bytes: Buffer.concat(chunks), coding, mustBeWhole: true };
  await readyCodings();
  const plain = decodedBody({ ...coded, bytesMax: EXPORT_BYTES_MAX });
  if (plain !== null) return plain.toString('utf8');
  throw new ParleyError(
    'export_invalid',
    `Cannot read the export of the gateway: it is coded as "${String(coding)}", and is broken off, of a coding that is not read, or longer than ${EXPORT_BYTES_MAX} bytes`,
  );
}

function tooLarge(): ParleyError {
  const message = `Cannot read the export of the gateway: it has more than ${EXPORT_BYTES_MAX} bytes`;
  return new ParleyError('export_invalid', message);
}
