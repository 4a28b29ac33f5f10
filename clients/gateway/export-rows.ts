/**
 * Rows of a gateway's export, as JSON, JSON lines or CSV, normalised.
 * Owns the shape of a row and what makes one unreadable; must not match rows with anything.
 */
import { normalUuid } from '../../core/ids.ts';
import { instantFromText } from '../../core/text/instant-text.ts';
import {
  divideHalfEven,
  type Decimal,
  decimalToUsd,
  nanoUsd,
  parseUsd,
  ZERO_USD,
  type NanoUsd,
} from '../../core/money/money.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { GatewayRow } from '../../core/money/spend.ts';
import type { ExportReading } from '../../ports/gateway-export.ts';
import { parseCsv } from './csv.ts';
import { FieldReader, type Field, type RawRow, multiply } from './row-fields.ts';

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
    throw new ParleyError(
      'export_invalid',
      'Cannot read the export: it is no list of rows, and no object with one under "data"',
    );
  }
  if (isObject(value)) checkWhole(value, rows.length);
  return rows.map((row: unknown, index) => asRow(row, index + 1));
}

/** Where paged answers say how many rows there are in all, and that there are more. */
const TOTALS = ['total', 'total_count', 'totalCount', 'total_rows', 'total_records', 'count'];
const MORE = ['has_more', 'hasMore', 'has_next', 'hasNextPage', 'next', 'next_page', 'next_cursor'];
const ABOUT = ['pagination', 'meta', 'page_info'];

/** A page of an export is not the export: sums of it would look right and be too small. */
function checkWhole(answer: RawRow, rowCount: number): void {
  const parts = [answer, ...ABOUT.map((name) => answer[name]).filter(isObject)];
  for (const part of parts) {
    const total = TOTALS.map((name) => Number(part[name] ?? 0)).find((count) => count > rowCount);
    const more = MORE.find((name) => part[name] === true || isNamed(part[name]));
    if (total === undefined && more === undefined) continue;
    const what = total === undefined ? `and "${more ?? ''}" says that there are more` : `of ${total}`;
    throw new ParleyError(
      'export_invalid',
      `Cannot read the export: it is cut off, it has ${rowCount} rows ${what}; export all pages into one file`,
    );
  }
}

function isNamed(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || (typeof value === 'number' && value > 0);
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
  if (!cost.ok) throw invalid(row, { field: cost.field, position, fields }, cost.remedy);
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

/** Numbers below are no milliseconds of this century: 1973. */
const MILLISECONDS_MIN = 100_000_000_000;

/** A text, in UTC where it has no zone, or a number of epoch milliseconds. */
function instant(row: RawRow, { field, position, fields }: Wanted): number {
  // What is a date is no decimal.
  const written = instantFromText(fields.text(row, field) ?? '');
  if (written !== null) return written;
  const decimal = fields.decimal(row, field);
  if (decimal === null) throw invalid(row, { field, position, fields }, null);
  const at = wholeOf(decimal);
  if (Math.abs(at) < MILLISECONDS_MIN) {
    const remedy = `it is read as milliseconds since 1970; of seconds, write --map ${field}=COLUMN*1000`;
    throw invalid(row, { field, position, fields }, remedy);
  }
  return at;
}

function wholeOf({ isNegative, digits, scale }: Decimal): number {
  const whole = Number(divideHalfEven(digits, 10n ** BigInt(scale)));
  return isNegative ? -whole : whole;
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

/** Names the field as it is documented; `remedy` null is how to say which column it is. */
function invalid(row: RawRow, { field, position, fields }: Wanted, remedy: string | null): ParleyError {
  const value = fields.value(row, field);
  const what = value === null ? 'missing' : `"${shown(value)}"`;
  const how = remedy ?? `name the right column with --map ${field}=COLUMN`;
  return new ParleyError(
    'export_invalid',
    `Cannot read row ${position} of the export: its field "${field}" is ${what} (${fields.whereIs(row, field)}); ${how}`,
    { details: { position, field } },
  );
}

const VALUE_CHARACTERS_MAX = 60;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX)}…`;
}

type RowCost =
  | { readonly ok: true; readonly cost: NanoUsd; readonly isUnpriced: boolean }
  /** `remedy` null: the usual one for a field that is missing or no number. */
  | { readonly ok: false; readonly field: Field; readonly remedy: string | null };

const UNPRICED: RowCost = { ok: true, cost: ZERO_USD, isUnpriced: true };
const NANO_SCALE = 9;

/** What a row of an export cost, in nano-USD. */
function costOf(row: RawRow, fields: FieldReader): RowCost {
  // What the user says of the file counts for more than what it looks like.
  if (fields.isMapped('cost_nano_usd')) return nanoCost(row, fields);
  if (!fields.isMapped('cost')) {
    if (isOurs(row)) return ourCost(row);
    if (isUnpricedByLitellm(row)) return UNPRICED;
  }
  const currency = (fields.text(row, 'currency') ?? 'USD').toUpperCase();
  // Most exports are in USD and of small amounts, which need no exact arithmetic; there may be millions of rows.
  const usd =
    currency === 'USD' && !fields.isScaled('cost') ? parseUsd(fields.text(row, 'cost') ?? '') : null;
  if (usd !== null) return { ok: true, cost: usd, isUnpriced: false };
  const decimal = fields.decimal(row, 'cost');
  if (decimal === null) return { ok: false, field: 'cost', remedy: null };
  if (currency === 'USD') return amountOf(decimalToUsd(decimal), 'cost');
  const rate = fields.rateOf(currency);
  if (rate === null) {
    return { ok: false, field: 'currency', remedy: `give its rate with --rate ${currency}=USD_FOR_ONE` };
  }
  // Multiplied exactly and rounded once.
  return amountOf(decimalToUsd(multiply(decimal, rate)), 'cost');
}

function amountOf(cost: NanoUsd | null, field: Field): RowCost {
  return cost === null
    ? { ok: false, field, remedy: 'one row cannot bill more than nine million USD; see to its unit' }
    : { ok: true, cost, isUnpriced: false };
}

function nanoCost(row: RawRow, fields: FieldReader): RowCost {
  const decimal = fields.decimal(row, 'cost_nano_usd');
  if (decimal === null) return { ok: false, field: 'cost_nano_usd', remedy: null };
  return amountOf(decimalToUsd({ ...decimal, scale: decimal.scale + NANO_SCALE }), 'cost_nano_usd');
}

/** The export of our own proxy: amounts are integers of nano-USD, and an empty one is unpriced (D26). */
function isOurs(row: RawRow): boolean {
  return ('callId' in row && 'costSource' in row) || 'cost_nano_usd' in row;
}

function ourCost(row: RawRow): RowCost {
  const value = 'cost_nano_usd' in row ? row['cost_nano_usd'] : row['cost'];
  if (value === null || value === undefined || value === '') return UNPRICED;
  const amount = Number(value);
  return Number.isSafeInteger(amount)
    ? { ok: true, cost: nanoUsd(amount), isUnpriced: false }
    : { ok: false, field: 'cost_nano_usd', remedy: null };
}

/** LiteLLM writes 0, or nothing, for a model whose price it does not know; a reply of its cache is really free. */
function isUnpricedByLitellm(row: RawRow): boolean {
  if (!('spend' in row) || !('total_tokens' in row)) return false;
  const spend = row['spend'];
  const isNothing = spend === null || spend === '' || Number(spend) === 0;
  return isNothing && Number(row['total_tokens']) > 0 && !/^true$/i.test(String(row['cache_hit']));
}
