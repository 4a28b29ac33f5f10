/**
 * The bodies of `POST /key/generate` and `POST /key/update`.
 * Owns its fields, their checks and what they become in a record (D5); must not make a key.
 */
import { parseUsd } from '../../core/money/money.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import { failure, type Failure } from '../failure.ts';
import { asObject, asText, type JsonObject } from '../relay/json-value.ts';
import { TAG_LENGTH_MAX, TAGS_MAX } from '../limits.ts';

/** Long enough for any scheme of names, short enough to stand in every row. */
const NAME_LENGTH_MAX = 128;
const MODELS_MAX = 1_000;
/** Metadata of a key is on each of its rows. */
const METADATA_LENGTH_MAX = 4_096;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@/+:-]*$/u;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5, w: 6048e5 };
/** About a hundred years: beyond it instants are no dates any more. */
const DURATION_MS_MAX = 3_155_760_000_000;

/** `/key/generate` names its record by the key's hash when the caller gives no alias. */
export type MakeRecord = (key: { readonly hash: string; readonly tail: string }) => ProxyKeyRecord;

export function readKeyRequest(body: JsonObject, now: number): MakeRecord | Failure {
  const fields = new Fields(body, 'make a key');
  const alias = fields.name('key_alias');
  const rest = { createdAt: now, ...readLimits(fields, now), isBlocked: false };
  if (rest.budgetWindowMs !== null && rest.budgetNanoUsd === null)
    fields.refuse('budget_duration', NEEDS_BUDGET);
  if (fields.fault !== null) return fields.fault;
  return ({ hash, tail }) => ({ hash, name: alias ?? `key-${hash.slice(0, 12)}`, tail, ...rest });
}

/** What a field of the body becomes in the record. */
const PROPERTIES = {
  team_id: 'team',
  user_id: 'userId',
  models: 'models',
  rpm_limit: 'rpm',
  tpm_limit: 'tpm',
  max_parallel_requests: 'parallelMax',
  max_budget: 'budgetNanoUsd',
  budget_duration: 'budgetWindowMs',
  duration: 'expiresAt',
  tags: 'tags',
  metadata: 'metadata',
} as const satisfies Readonly<Record<string, keyof ProxyKeyRecord>>;

const FIELDS: ReadonlySet<string> = new Set(['key_alias', ...Object.keys(PROPERTIES)]);

/** The record as the body of `POST /key/update` changes it: what is absent stays, and null takes a limit away. */
export function readKeyUpdate(
  { key: _whose, ...body }: JsonObject,
  record: ProxyKeyRecord,
  now: number,
): ProxyKeyRecord | Failure {
  const fields = new Fields(body, 'change the key');
  const read = readLimits(fields, now);
  const alias = fields.name('key_alias');
  // Rows and the sum of a budget go by the name.
  if (alias !== null && alias !== record.name)
    fields.refuse('key_alias', 'it stands in spend rows and stays');
  const given = Object.entries(PROPERTIES).filter(([field]) => Object.hasOwn(body, field));
  const changed = {
    ...record,
    ...Object.fromEntries(given.map(([, property]) => [property, read[property]])),
  };
  if (changed.budgetWindowMs !== null && changed.budgetNanoUsd === null)
    fields.refuse('budget_duration', NEEDS_BUDGET);
  return fields.fault ?? changed;
}

const NEEDS_BUDGET = 'it needs a max_budget';

function readLimits(fields: Fields, now: number) {
  const lifeMs = fields.duration('duration');
  const models = fields.texts('models', { countMax: MODELS_MAX, lengthMax: NAME_LENGTH_MAX });
  return {
    expiresAt: lifeMs === null ? null : now + lifeMs,
    team: fields.name('team_id'),
    userId: fields.name('user_id'),
    models: models?.length === 0 ? null : models,
    rpm: fields.count('rpm_limit'),
    tpm: fields.count('tpm_limit'),
    parallelMax: fields.count('max_parallel_requests'),
    budgetNanoUsd: fields.amount('max_budget'),
    budgetWindowMs: fields.duration('budget_duration'),
    tags: fields.texts('tags', { countMax: TAGS_MAX, lengthMax: TAG_LENGTH_MAX }) ?? [],
    metadata: fields.object('metadata'),
  };
}

/** Reads fields one after the other and keeps the first fault; a field that is absent or null is null. */
class Fields {
  fault: Failure | null = null;
  private readonly body: JsonObject;
  private readonly verb: string;

  constructor(body: JsonObject, verb: string) {
    this.body = body;
    this.verb = verb;
    const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
    if (unknown !== undefined) this.refuse(unknown, 'the proxy does not know this field');
  }

  refuse(field: string, reason: string): null {
    this.fault ??= failure('invalid_request', `Cannot ${this.verb}: ${field}: ${reason}`, field);
    return null;
  }

  name(field: string): string | null {
    const value = this.body[field] ?? null;
    if (value === null) return null;
    if (typeof value === 'string' && value.length <= NAME_LENGTH_MAX && NAME.test(value)) return value;
    return this.refuse(field, 'it must be a short name of letters, digits and . _ @ / + : -');
  }

  count(field: string): number | null {
    const value = this.body[field] ?? null;
    if (value === null) return null;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    return this.refuse(field, 'it must be a whole number, 0 or more');
  }

  amount(field: string): number | null {
    const value = this.body[field] ?? null;
    if (value === null) return null;
    const isWritten = typeof value === 'number' || typeof value === 'string';
    const amount = isWritten ? parseUsd(String(value)) : null;
    return amount !== null && amount >= 0
      ? amount
      : this.refuse(field, 'it must be an amount in USD, 0 or more');
  }

  duration(field: string): number | null {
    const value = this.body[field] ?? null;
    if (value === null) return null;
    const [, count = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(asText(value) ?? '') ?? [];
    const ms = Number(count) * (UNITS_MS[unit] ?? 0);
    if (ms > 0 && ms <= DURATION_MS_MAX) return ms;
    return this.refuse(field, 'it must be a number with s, m, h, d or w, as in "30d"');
  }

  texts(field: string, { countMax, lengthMax }: { countMax: number; lengthMax: number }): string[] | null {
    const value = this.body[field] ?? null;
    if (value === null) return null;
    const isList = Array.isArray(value) && value.length <= countMax;
    const texts = isList ? value.map((one: unknown) => asText(one)) : [null];
    if (texts.every((text) => text !== null && text.length <= lengthMax)) return texts as string[];
    return this.refuse(field, `it must be a list of at most ${countMax} texts`);
  }

  object(field: string): JsonObject {
    const value = this.body[field] ?? null;
    if (value === null) return {};
    const object = asObject(value);
    if (object !== null && JSON.stringify(object).length <= METADATA_LENGTH_MAX) return object;
    this.refuse(field, `it must be an object of at most ${METADATA_LENGTH_MAX} characters`);
    return {};
  }
}
