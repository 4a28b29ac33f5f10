/**
 * Reading the external gateway's export over HTTP.
 * Owns address, key and format; rows are normalised in export-rows.ts.
 */
import { request } from 'undici';
import { ParleyError } from '../core/parley-error.ts';
import type { GatewayRow } from '../core/spend.ts';
import type { GatewayExport } from '../ports/gateway-export.ts';
import { parseExport, type ExportFormat } from './export-rows.ts';

export interface GatewayExportOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly format: ExportFormat;
}

/** An export is a batch job of the gateway; it may take its time. */
const EXPORT_TIMEOUT_MS = 120_000;

export function createGatewayExport(options: GatewayExportOptions): GatewayExport {
  return { rows: (interval) => fetchRows(options, interval) };
}

async function fetchRows(
  options: GatewayExportOptions,
  interval: { readonly from: number; readonly to: number },
): Promise<readonly GatewayRow[]> {
  const url = new URL(options.url);
  url.searchParams.set('format', options.format);
  url.searchParams.set('from', new Date(interval.from).toISOString());
  url.searchParams.set('to', new Date(interval.to).toISOString());
  return parseExport(await fetchText(url, options.apiKey), options.format);
}

async function fetchText(url: URL, apiKey: string): Promise<string> {
  try {
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await request(url, { headers, headersTimeout: EXPORT_TIMEOUT_MS, bodyTimeout: EXPORT_TIMEOUT_MS });
    const text = await response.body.text();
    if (response.statusCode === 200) return text;
    throw new Error(`status ${response.statusCode}: ${text.slice(0, 300)}`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ParleyError('export_unavailable', `Cannot fetch the export of the gateway: ${why}`, { cause });
  }
}
