/**
 * Rows of a gateway's export, as JSON, JSON lines or CSV, normalised.
 * Owns the shape of a row and what makes one unreadable; must not match rows with anything.
 */
import { normalUuid } from '../core/ids.ts';
import { instantFromText } from '../core/instant-text.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { GatewayRow } from '../core/spend.ts';
import type { ExportReading } from '../ports/gateway-export.ts';
import { parseCsv } from './csv.ts';
import { costOf } from './row-cost.ts';
import { FieldReader, type Field, type RawRow } from './row-fields.ts';

export type ExportFormat = 'json' | 'jsonl' | 'csv';

/** @throws ParleyError export_invalid, naming the row and the field */
export function parseExport(
  text: string,
  format: ExportFormat,
  reading: ExportReading = {},
): readonly GatewayRow[] {
  const fields = new FieldReader(reading);
  return rawRows(text, format).map((row, index) => normalise(row, index + 1, fields));
}

function rawRows(text: string, format: ExportFormat): readonly RawRow[] {
  switch (format) {
    case 'csv':
      return parseCsv(text);
    case 'json':
      return parseJson(text);
    case 'jsonl': {
      const lines = text
        .replace(/^\uFEFF/, '')
        .split('\n')
        .filter((line) => line.trim() !== '');
      return lines.map((line, index) => parseLine(line, index + 1));
    }
  }
}

/** A list of rows, or an object that has one under `data`, as paged answers do. */
function parseJson(text: string): readonly RawRow[] {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new ParleyError('export_invalid', 'Cannot read the export: it is not JSON', { cause });
  }
  const rows = isObject(value) ? value['data'] : value;
  if (!Array.isArray(rows)) {
    throw new ParleyError('export_invalid', 'Cannot read the export: it is no list of rows');
  }
  return rows.map((row: unknown, index) => asRow(row, index + 1));
}

/** @throws ParleyError export_invalid */
export function parseLine(line: string, position: number): RawRow {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ParleyError('export_invalid', `Cannot read row ${position} of the export: it is not JSON`, {
      cause,
    });
  }
  return asRow(value, position);
}

function asRow(value: unknown, position: number): RawRow {
  if (isObject(value)) return value;
  throw new ParleyError('export_invalid', `Cannot read row ${position} of the export: it is not an object`);
}

function isObject(value: unknown): value is RawRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `position` counts from 1. @throws ParleyError export_invalid */
export function normalise(row: RawRow, position: number, fields: FieldReader): GatewayRow {
  const startedAt = instant(row, { field: 'started_at', position, fields });
  const hasEnd = fields.value(row, 'ended_at') !== null;
  const session = fields.text(row, 'session_id');
  const cost = costOf(row, fields);
  if (!cost.ok) throw invalid(position, fields.nameOf(cost.field), cost.value, cost.remedy);
  const [user, team] = [fields.text(row, 'user'), fields.text(row, 'team')];
  // A field that most exports lack is left out: there may be millions of rows.
  return {
    responseId: fields.text(row, 'response_id'),
    startedAt,
    endedAt: hasEnd ? instant(row, { field: 'ended_at', position, fields }) : startedAt,
    model: fields.text(row, 'model') ?? '',
    sessionId: session === null ? null : normalUuid(session),
    tags: list(fields.structured(row, 'tags')),
    keyName: fields.text(row, 'key'),
    promptTokens: fields.count(row, 'prompt_tokens'),
    completionTokens: fields.count(row, 'completion_tokens'),
    cost: cost.cost,
    metadataSessionId: metadataSession(fields.structured(row, 'metadata')),
    ...(user === null ? {} : { user }),
    ...(team === null ? {} : { team }),
    ...(cost.isUnpriced ? { isUnpriced: true } : {}),
    position,
  };
}

interface Wanted {
  readonly field: Field;
  readonly position: number;
  readonly fields: FieldReader;
}

/** A text, in UTC where it has no zone, or a number of epoch milliseconds. */
function instant(row: RawRow, { field, position, fields }: Wanted): number {
  const value = fields.value(row, field);
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const text = typeof value === 'string' ? value : null;
  const at = text === null ? null : instantFromText(text);
  if (at === null) throw invalid(position, fields.nameOf(field), text);
  return at;
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((tag) => typeof tag === 'string') : NO_TAGS;
}

const NO_TAGS: readonly string[] = [];

/** LiteLLM keeps what a caller sent under a name of its own; other gateways have it at the top. */
function metadataSession(metadata: unknown): string | null {
  if (!isObject(metadata)) return null;
  const sent = isObject(metadata['spend_logs_metadata']) ? metadata['spend_logs_metadata'] : metadata;
  const found = sent['session_id'] ?? sent['attempt_id'];
  return typeof found === 'string' ? normalUuid(found) : null;
}

function invalid(position: number, field: string, value: string | null, remedy = ''): ParleyError {
  const what = value === null ? 'missing' : `"${value}"`;
  return new ParleyError(
    'export_invalid',
    `Cannot read row ${position} of the export: "${field}" is ${what}${remedy}`,
    { details: { position, field } },
  );
}
