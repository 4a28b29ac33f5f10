/**
 * Under which names an export keeps what: several gateways, our own proxy's export, and columns that a user names.
 * Owns the names and the reading of one value; must not price a row or match it with anything.
 */
import { parseDecimal, type Decimal } from '../../core/money/money.ts';
import { parsedJson } from '../../core/text/parsed-json.ts';
import type { ExportReading } from '../../ports/gateway-export.ts';

export type RawRow = Readonly<Record<string, unknown>>;

/** The first name present counts. */
const FIELDS = {
  response_id: ['request_id', 'response_id', 'responseId', 'id'],
  started_at: ['time_start', 'startTime', 'start_time', 'started_at', 'startedAt', 'time'],
  ended_at: ['time_end', 'endTime', 'end_time', 'ended_at', 'endedAt'],
  // LiteLLM's `model` is its own upstream; the name that the client requested is the group.
  model: ['model_group', 'upstream_model', 'upstreamModel', 'model'],
  session_id: ['session_id', 'sessionId'],
  tags: ['tags', 'request_tags'],
  key: ['api_key_name', 'key_name', 'keyName', 'key', 'api_key'],
  user: ['end_user', 'user', 'user_id'],
  team: ['team', 'team_id'],
  prompt_tokens: ['prompt_tokens', 'promptTokens'],
  completion_tokens: ['completion_tokens', 'completionTokens'],
  cost: ['cost_usd', 'spend', 'cost'],
  cost_nano_usd: ['cost_nano_usd'],
  currency: ['currency'],
  metadata: ['metadata'],
} as const;

export type Field = keyof typeof FIELDS;

/** What `--map` may name. */
export const FIELD_NAMES = Object.keys(FIELDS) as readonly Field[];

/** Fields whose numbers may be given in another unit. */
export const SCALED_FIELDS: readonly Field[] = [
  'started_at',
  'ended_at',
  'prompt_tokens',
  'completion_tokens',
  'cost',
  'cost_nano_usd',
];

/** Where a column's value belongs: of two columns of one field the one of lower rank counts. */
interface Place {
  readonly field: Field;
  readonly rank: number;
}

/** Reads the fields of rows of one export: all fields of one row are read before those of the next. */
export class FieldReader {
  private readonly names: Readonly<Record<Field, readonly string[]>>;
  private readonly reading: ExportReading;
  private readonly places: ReadonlyMap<string, readonly Place[]>;
  /** The columns of the row that was read last, and where their values belong: most rows have the same. */
  private columns: readonly string[] = [];
  private columnPlaces: readonly (readonly Place[])[] = [];
  /** The row that was read last, and what it has. */
  private row: RawRow | null = null;
  private readonly values = emptyValues();
  /** Texts that were read as JSON last, by field: most rows of an export say the same. */
  private readonly lastTexts: Partial<Record<Field, { readonly text: string; readonly value: unknown }>> = {};

  constructor(reading: ExportReading = {}) {
    const own = reading.columns ?? {};
    const named = FIELD_NAMES.map((field) => {
      const column = own[field];
      return [field, column === undefined ? FIELDS[field] : [column]];
    });
    this.names = Object.fromEntries(named) as Record<Field, readonly string[]>;
    this.places = placesOf(this.names);
    this.reading = reading;
  }

  /** Null for a field that is missing or empty. */
  value(row: RawRow, field: Field): unknown {
    if (row !== this.row) this.readRow(row);
    return this.values[field].value;
  }

  /** Once through its columns: a search for each name of each field takes thrice as long, and there may be millions. */
  private readRow(row: RawRow): void {
    for (const field of FIELD_NAMES) {
      const kept = this.values[field];
      [kept.rank, kept.value] = [Infinity, null];
    }
    this.readColumns(Object.keys(row));
    let column = 0;
    for (const value of Object.values(row)) {
      const places = this.columnPlaces[column] ?? NO_PLACES;
      column += 1;
      if (value === undefined || value === null || value === '') continue;
      for (const { field, rank } of places) {
        const kept = this.values[field];
        if (rank < kept.rank) [kept.rank, kept.value] = [rank, value];
      }
    }
    this.row = row;
  }

  private readColumns(names: readonly string[]): void {
    const { columns } = this;
    if (names.length === columns.length && names.every((name, at) => name === columns[at])) return;
    this.columns = names;
    this.columnPlaces = names.map((name) => this.places.get(name) ?? NO_PLACES);
  }

  text(row: RawRow, field: Field): string | null {
    const value = this.value(row, field);
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
  }

  /** Exactly as it is written, times the factor of the field; null when it is no decimal. */
  decimal(row: RawRow, field: Field): Decimal | null {
    const text = this.text(row, field);
    const decimal = text === null ? null : parseDecimal(text);
    const factor = this.reading.factors?.[field];
    if (decimal === null || factor === undefined) return decimal;
    const times = parseDecimal(factor);
    return times === null ? null : multiply(decimal, times);
  }

  /** A count of tokens; what is no count is 0. */
  count(row: RawRow, field: Field): number {
    const raw = this.value(row, field);
    if (raw === null) return 0;
    const factor = this.reading.factors?.[field];
    const value = factor === undefined ? Number(raw) : Math.round(Number(raw) * Number(factor));
    return Number.isSafeInteger(value) && value >= 0 ? value : 0;
  }

  /** A list or an object, written as such or as a JSON text. */
  structured(row: RawRow, field: Field): unknown {
    const text = this.value(row, field);
    if (typeof text !== 'string') return text;
    const last = this.lastTexts[field];
    if (last?.text === text) return last.value;
    const value = parsedJson(text) ?? null;
    this.lastTexts[field] = { text, value };
    return value;
  }

  /** The numbers of the field are in another unit. */
  isScaled(field: Field): boolean {
    return this.reading.factors?.[field] !== undefined;
  }

  /** The user said which column holds the field. */
  isMapped(field: Field): boolean {
    return this.reading.columns?.[field] !== undefined;
  }

  /** USD for one unit of a currency; null when the user gave no rate. */
  rateOf(currency: string): Decimal | null {
    const rate = parseDecimal(this.reading.rates?.[currency] ?? '');
    return rate === null || rate.isNegative ? null : rate;
  }

  /** Where a field was searched for in a row, for people. */
  whereIs(row: RawRow, field: Field): string {
    const names = this.names[field];
    const present = names.find((name) => row[name] !== undefined && row[name] !== null && row[name] !== '');
    if (present !== undefined) return `column "${present}"`;
    const columns = Object.keys(row).slice(0, COLUMNS_SHOWN_MAX).join(', ');
    return `no value in ${names.map((name) => `"${name}"`).join(', ')}; the row has ${columns}`;
  }
}

type Values = Readonly<Record<Field, { rank: number; value: unknown }>>;

function emptyValues(): Values {
  return Object.fromEntries(FIELD_NAMES.map((field) => [field, { rank: Infinity, value: null }])) as Values;
}

const NO_PLACES: readonly Place[] = [];

function placesOf(names: Readonly<Record<Field, readonly string[]>>): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const field of FIELD_NAMES) {
    for (const [rank, name] of names[field].entries()) {
      places.set(name, [...(places.get(name) ?? []), { field, rank }]);
    }
  }
  return places;
}

/** Of a row, as many as a person reads through for the right one. */
const COLUMNS_SHOWN_MAX = 20;

export function multiply(a: Decimal, b: Decimal): Decimal {
  return {
    isNegative: a.isNegative !== b.isNegative,
    digits: a.digits * b.digits,
    scale: a.scale + b.scale,
  };
}
