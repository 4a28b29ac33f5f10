/**
 * Under which names an export keeps what: several gateways, our own proxy's export, and columns that a user names.
 * Owns the names and the reading of one value; must not price a row or match it with anything.
 */
import type { ExportReading } from '../ports/gateway-export.ts';

export type RawRow = Readonly<Record<string, unknown>>;

/** The first name present counts. */
const FIELDS = {
  response_id: ['request_id', 'response_id', 'responseId', 'id'],
  started_at: ['time_start', 'startTime', 'start_time', 'started_at', 'startedAt', 'time'],
  ended_at: ['time_end', 'endTime', 'end_time', 'ended_at', 'endedAt'],
  // LiteLLM's `model` is its own upstream; the name under which it was asked is the group.
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

/** Reads the fields of rows of one export. */
export class FieldReader {
  private readonly names: Readonly<Record<Field, readonly string[]>>;
  readonly rates: Readonly<Record<string, string>>;

  constructor(reading: ExportReading = {}) {
    const own = reading.columns ?? {};
    const named = FIELD_NAMES.map((field) => {
      const column = own[field];
      return [field, column === undefined ? FIELDS[field] : [column]];
    });
    this.names = Object.fromEntries(named) as Record<Field, readonly string[]>;
    this.rates = reading.rates ?? {};
  }

  /** Null for a field that is missing or empty. */
  value(row: RawRow, field: Field): unknown {
    for (const name of this.names[field]) {
      const value = row[name];
      if (value !== undefined && value !== null && value !== '') return value;
    }
    return null;
  }

  text(row: RawRow, field: Field): string | null {
    const value = this.value(row, field);
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
  }

  /** A count of tokens; what is no count is 0. */
  count(row: RawRow, field: Field): number {
    const value = Number(this.text(row, field) ?? 0);
    return Number.isSafeInteger(value) && value >= 0 ? value : 0;
  }

  /** A list or an object, written as such or as a JSON text. */
  structured(row: RawRow, field: Field): unknown {
    const value = this.value(row, field);
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      return null;
    }
  }

  /** The name under which an error speaks of a field. */
  nameOf(field: Field): string {
    return this.names[field][0] ?? field;
  }
}
