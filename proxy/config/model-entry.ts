/**
 * One model entry, from the configuration or from `POST /model/new`.
 * Owns its fields and their checks; must not know what else is configured.
 */
import { createHash } from 'node:crypto';
import type { ConfigProblem, ModelEntry } from './config.ts';
import { resolveEnvironment, type Environment } from './environment.ts';
import { PRICE_PARAMS, readPriceTerms } from '../spend/entry-price.ts';
import { readGatewayAddress, type GatewayAddress } from './gateway-address.ts';
import { asObject, asText, type JsonObject } from '../relay/json-value.ts';
import { TIMEOUT_DEFAULT_S, TIMEOUT_MAX_S, WEIGHT_MAX } from '../limits.ts';
import { readStaticHeaders } from './static-headers.ts';

export interface EntryContext {
  readonly env: Environment;
  readonly vendor: string;
  /** Path of the entry in its document. */
  readonly path: string;
  /** Sent on every call of every entry. */
  readonly customHeaders: ReadonlyMap<string, string>;
  readonly problems: ConfigProblem[];
}

/** The params that are read; others are named in a warning, so that no setting is silently without effect. */
const PARAMS = new Set([
  'model',
  'api_base',
  'api_key',
  ...PRICE_PARAMS,
  'timeout',
  'extra_headers',
  'weight',
]);
const KEY_TEXT = /^[\x21-\x7e]+$/;
/** Enough that the ids of two entries of one deployment never collide. */
const ID_DIGITS = 20;

/** The entry, or null when a problem with severity `error` was added. */
export function readModelEntry(raw: unknown, context: EntryContext): ModelEntry | null {
  const modelName = asText(asObject(raw)?.['model_name']) ?? '';
  const reader = new EntryReader(context, `model entry "${modelName}" (${context.path})`);
  const found = context.problems.length;
  const entry = asObject(resolveEnvironment(raw, { ...context, owner: reader.owner }));
  // An unset variable becomes an empty text: checking it would report the same fault twice.
  if (context.problems.length > found) return null;
  const name = asText(entry?.['model_name']);
  if (entry === null || name === null) return reader.refuse('model_name', 'it must be a text');
  const params = asObject(entry[`${context.vendor}_params`]);
  if (params === null) return reader.refuse(`${context.vendor}_params`, 'it must be an object');
  return readParams(reader, { name, params, id: asText(asObject(entry['model_info'])?.['id']) });
}

/** Collects the problems of one entry under its name. */
class EntryReader {
  readonly context: EntryContext;
  readonly owner: string;
  failed: boolean;

  constructor(context: EntryContext, owner: string) {
    this.context = context;
    this.owner = owner;
    this.failed = false;
  }

  refuse(field: string, reason: string): null {
    this.failed = true;
    this.report('error', field, `Cannot load ${this.owner}: ${field}: ${reason}`);
    return null;
  }

  warn(field: string, reason: string): void {
    this.report('warning', field, `Cannot vouch for ${this.owner}: ${field}: ${reason}`);
  }

  private report(severity: 'error' | 'warning', field: string, message: string): void {
    this.context.problems.push({ severity, path: `${this.context.path}.${field}`, message });
  }
}

interface RawEntry {
  readonly name: string;
  readonly params: JsonObject;
  /** `model_info.id`; null makes one. */
  readonly id: string | null;
}

function readParams(reader: EntryReader, { name: modelName, params, id }: RawEntry): ModelEntry | null {
  const address = readAddress(reader, params);
  const apiKey = readKey(reader, params['api_key']);
  const terms = readPriceTerms(params, {
    upstreamModel: address?.upstreamModel ?? '',
    refuse: (field, reason) => reader.refuse(field, reason),
  });
  const timeoutMs = readTimeout(reader, params['timeout']);
  const weight = readWeight(reader, params['weight']);
  const extraHeaders = readExtraHeaders(reader, params['extra_headers']);
  for (const key of Object.keys(params)) {
    if (!PARAMS.has(key)) reader.warn(key, 'the proxy does not use this parameter');
  }
  if (modelName === '*') {
    reader.warn(
      'model_name',
      'a wildcard fills the model list with names the gateway may not know; use one entry per model (Pattern A)',
    );
  }
  if (address === null || apiKey === null || reader.failed) return null;
  return {
    id: id ?? entryId(modelName, address),
    modelName,
    kind: address.kind,
    upstreamModel: address.upstreamModel,
    origin: address.origin,
    basePath: address.basePath,
    apiKey,
    ...terms,
    timeoutMs,
    weight,
    extraHeaders,
  };
}

function readAddress(reader: EntryReader, params: JsonObject): GatewayAddress | null {
  const model = asText(params['model']);
  const apiBase = asText(params['api_base']);
  if (model === null) return reader.refuse('model', 'it must be a text');
  if (apiBase === null) return reader.refuse('api_base', 'it must be a text');
  const reading = readGatewayAddress(reader.context.vendor, { model, apiBase });
  if (!reading.ok) return reader.refuse(reading.field, reading.reason);
  if (reading.address.exposed) {
    reader.warn('api_base', `"${reading.address.origin}" is plain http outside this machine; use https`);
  }
  return reading.address;
}

function readKey(reader: EntryReader, value: unknown): string | null {
  const key = asText(value);
  if (key === null) return reader.refuse('api_key', 'it must be a text');
  return KEY_TEXT.test(key) ? key : reader.refuse('api_key', 'it holds a character no header can carry');
}

function readTimeout(reader: EntryReader, value: unknown): number {
  if (value === undefined) return TIMEOUT_DEFAULT_S * 1_000;
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= TIMEOUT_MAX_S)
    return Math.ceil(seconds * 1_000);
  reader.refuse('timeout', `it must be a number of seconds above 0, at most ${TIMEOUT_MAX_S}`);
  return 0;
}

function readExtraHeaders(reader: EntryReader, value: unknown): ReadonlyMap<string, string> {
  const { headers, refused, leftOut } = readStaticHeaders(value, reader.context.vendor);
  for (const reason of refused) reader.refuse('extra_headers', reason);
  for (const reason of leftOut) reader.warn('extra_headers', reason);
  return new Map([...reader.context.customHeaders, ...headers]);
}

function readWeight(reader: EntryReader, value: unknown): number {
  if (value === undefined) return 1;
  const weight = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof weight === 'number' && weight > 0 && weight <= WEIGHT_MAX) return weight;
  reader.refuse('weight', `it must be a number above 0, at most ${WEIGHT_MAX}`);
  return 1;
}

/** Made without the key: an id is public, and must not help an attacker to test keys. */
function entryId(modelName: string, address: GatewayAddress): string {
  const { kind, upstreamModel, origin, basePath } = address;
  const facts = JSON.stringify([modelName, kind, upstreamModel, origin, basePath]);
  return createHash('sha256').update(facts).digest('hex').slice(0, ID_DIGITS);
}
