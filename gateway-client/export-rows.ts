/**
 * Rows of a gateway's export, as JSON lines or CSV, normalised.
 * Owns the names under which gateways spell a field; must not match rows with anything.
 */
import { parseUsd } from '../core/money.ts';
import { normalUuid } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { GatewayRow } from '../core/spend.ts';
import { parseCsv } from './csv.ts';

export type ExportFormat = 'jsonl' | 'csv';

type RawRow = Readonly<Record<string, unknown>>;

/** @throws ParleyError export_invalid, naming the row and the field */
export function parseExport(text: string, format: ExportFormat): readonly GatewayRow[] {
  const raw = format === 'csv' ? parseCsv(text) : parseJsonLines(text);
  return raw.map((row, index) => normalise(row, index + 1));
}

function parseJsonLines(text: string): readonly RawRow[] {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line, index) => parseLine(line, index + 1));
}

function parseLine(line: string, position: number): RawRow {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ParleyError('export_invalid', `Cannot read row ${position} of the export: it is not JSON`, {
      cause,
    });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawRow;
  throw new ParleyError('export_invalid', `Cannot read row ${position} of the export: it is not an object`);
}

/** Several gateways, several spellings: the first one present counts. */
const FIELDS = {
  responseId: ['request_id', 'response_id', 'id'],
  start: ['time_start', 'startTime', 'start_time', 'time'],
  end: ['time_end', 'endTime', 'end_time'],
  model: ['model'],
  session: ['session_id'],
  tags: ['tags', 'request_tags'],
  key: ['api_key_name', 'key_name', 'api_key'],
  prompt: ['prompt_tokens'],
  completion: ['completion_tokens'],
  cost: ['cost_usd', 'spend', 'cost'],
  metadata: ['metadata'],
} as const;

function normalise(row: RawRow, position: number): GatewayRow {
  const startedAt = instant(row, FIELDS.start, position);
  const session = text(row, FIELDS.session);
  return {
    responseId: text(row, FIELDS.responseId),
    startedAt,
    endedAt: text(row, FIELDS.end) === null ? startedAt : instant(row, FIELDS.end, position),
    model: text(row, FIELDS.model) ?? '',
    sessionId: session === null ? null : normalUuid(session),
    tags: list(row, FIELDS.tags),
    keyName: text(row, FIELDS.key),
    promptTokens: count(row, FIELDS.prompt),
    completionTokens: count(row, FIELDS.completion),
    cost: amount(row, position),
    metadataSessionId: metadataSession(row),
    position,
  };
}

function first(row: RawRow, names: readonly string[]): unknown {
  for (const name of names)
    if (row[name] !== undefined && row[name] !== null && row[name] !== '') return row[name];
  return null;
}

function text(row: RawRow, names: readonly string[]): string | null {
  const value = first(row, names);
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
}

function instant(row: RawRow, names: readonly string[], position: number): number {
  const value = text(row, names);
  const at = value === null ? Number.NaN : Date.parse(inUtc(value));
  if (Number.isNaN(at)) throw invalid(position, names[0] ?? 'time', value);
  return at;
}

/** Gateways keep UTC; a time without a zone would otherwise be read as this machine's own. */
function inUtc(time: string): string {
  return /\d{2}:\d{2}(:\d{2}([.,]\d+)?)?$/.test(time) && !/[+-]\d{2}:?\d{2}$/.test(time) ? `${time}Z` : time;
}

function amount(row: RawRow, position: number): GatewayRow['cost'] {
  const value = text(row, FIELDS.cost);
  const parsed = value === null ? null : parseUsd(value);
  if (parsed === null) throw invalid(position, FIELDS.cost[0], value);
  return parsed;
}

function count(row: RawRow, names: readonly string[]): number {
  const value = Number(text(row, names) ?? 0);
  return Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

function list(row: RawRow, names: readonly string[]): readonly string[] {
  const value = structured(first(row, names));
  return Array.isArray(value) ? value.filter((tag) => typeof tag === 'string') : [];
}

/** Spend metadata is a JSON text in some exports and an object in others. */
function metadataSession(row: RawRow): string | null {
  const metadata = structured(first(row, FIELDS.metadata));
  if (typeof metadata !== 'object' || metadata === null) return null;
  const { session_id: session, attempt_id: attempt } = metadata as Record<string, unknown>;
  const found = session ?? attempt;
  return typeof found === 'string' ? normalUuid(found) : null;
}

function structured(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

function invalid(position: number, field: string, value: string | null): ParleyError {
  return new ParleyError(
    'export_invalid',
    `Cannot read row ${position} of the export: "${field}" is ${value === null ? 'missing' : `"${value}"`}`,
    {
      details: { position, field },
    },
  );
}
