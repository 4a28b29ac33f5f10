/**
 * The administration of virtual keys: make, change, list, show, block, delete.
 * Owns the replies; a key stands in the reply that made it and in no other.
 */
import { NANO_PER_USD } from '../../core/money/money.ts';
import { asParleyError } from '../../core/parley-error.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import { failure } from '../failure.ts';
import { readJsonBody, sendFailure, sendJson, type Exchange } from '../relay/http-exchange.ts';
import { asText, type JsonObject } from '../relay/json-value.ts';
import { readKeyRequest, readKeyUpdate } from './key-request.ts';
import type { ProxyParts } from '../proxy-parts.ts';
import type { VirtualKeys } from './virtual-keys.ts';

type ServeKeys = (parts: ProxyParts, exchange: Exchange, keys: VirtualKeys) => Promise<void>;

/** The route, or 404 where this proxy keeps no keys; a store that does not answer is 503. */
export function withKeys(serve: ServeKeys): (parts: ProxyParts, exchange: Exchange) => Promise<void> {
  return async (parts, exchange) => {
    const { virtualKeys } = parts;
    if (virtualKeys === null) {
      const message = 'Cannot serve keys: this proxy keeps none; it knows those of conversations only';
      return sendFailure(exchange.res, failure('not_found', message));
    }
    try {
      await serve(parts, exchange, virtualKeys);
    } catch (cause) {
      if (asParleyError(cause).code !== 'store_unavailable') throw cause;
      parts.log.warn({ cause: String(cause) }, 'Cannot reach the virtual keys');
      sendFailure(exchange.res, failure('store_unavailable', 'Cannot serve keys: the store did not answer'));
    }
  };
}

/** `POST /key/generate`. */
export const makeKey: ServeKeys = async (parts, exchange, keys) => {
  const body = await readJsonBody(exchange.req);
  if ('failed' in body) return sendFailure(exchange.res, body.failed);
  const make = readKeyRequest(body.json, parts.clock.now());
  if (typeof make !== 'function') return sendFailure(exchange.res, make);
  try {
    const { key, record } = await keys.create(make);
    sendJson(exchange.res, 200, { key, ...keyRow(record) });
  } catch (cause) {
    if (asParleyError(cause).code !== 'store_conflict') throw cause;
    const message = 'Cannot make a key: another key has this key_alias';
    sendFailure(exchange.res, failure('invalid_request', message, 'key_alias'));
  }
};

/** `POST /key/update` with `{"key": ..., ...}`: the fields that stand there change, from the next call on. */
export const updateKey: ServeKeys = async (parts, exchange, keys) => {
  const body = await readJsonBody(exchange.req);
  if ('failed' in body) return sendFailure(exchange.res, body.failed);
  const record = await keys.byKeyOrHash(keyIn(body.json));
  if (record === null) return sendFailure(exchange.res, noKey());
  const changed = readKeyUpdate(body.json, record, parts.clock.now());
  if ('code' in changed) return sendFailure(exchange.res, changed);
  await keys.change(changed);
  sendJson(exchange.res, 200, { key: changed.hash, ...keyRow(changed) });
};

/** `POST /key/delete` with `{"keys": [...]}`: keys or their hashes. Those that are unknown are left out of the reply. */
export const deleteKeys: ServeKeys = async (_parts, exchange, keys) => {
  const body = await readJsonBody(exchange.req);
  if ('failed' in body) return sendFailure(exchange.res, body.failed);
  const wanted = Array.isArray(body.json['keys']) ? body.json['keys'].map(asText) : [null];
  if (!wanted.every((one) => one !== null)) {
    const message = 'Cannot delete keys: "keys" must be a list of keys or their hashes';
    return sendFailure(exchange.res, failure('invalid_request', message, 'keys'));
  }
  const deleted: string[] = [];
  for (const one of wanted) {
    const record = await keys.remove(one);
    if (record !== null) deleted.push(record.hash);
  }
  sendJson(exchange.res, 200, { deleted_keys: deleted });
};

/** `GET /key/list`, with `team_id` or `user_id` for some of them. */
export const listKeys: ServeKeys = async (_parts, exchange, keys) => {
  const query = exchange.url.searchParams;
  const [team, user] = [query.get('team_id'), query.get('user_id')];
  const records = await keys.list();
  const found = records.filter(
    (record) => (team === null || record.team === team) && (user === null || record.userId === user),
  );
  sendJson(exchange.res, 200, { keys: found.map(keyRow), total_count: found.length });
};

/**
 * `GET /key/info?key=` with a key or its hash; the spend is that of the present budget window. `info` is where clients
 * of such gateways look, with amounts in USD as they know them; exact are those in nano-USD.
 */
export const showKey: ServeKeys = async (_parts, exchange, keys) => {
  const record = await keys.byKeyOrHash(exchange.url.searchParams.get('key') ?? '');
  if (record === null) return sendFailure(exchange.res, noKey());
  const spent = await keys.spent(record);
  const row = { ...keyRow(record), spend_nano_usd: spent };
  const usd = {
    spend: spent / NANO_PER_USD,
    max_budget: record.budgetNanoUsd === null ? null : record.budgetNanoUsd / NANO_PER_USD,
  };
  sendJson(exchange.res, 200, { key: record.hash, info: { ...row, ...usd }, ...row });
};

/** `POST /key/block` and `POST /key/unblock` with `{"key": ...}`. */
export function blockKey(isBlocked: boolean): ServeKeys {
  return async (_parts, exchange, keys) => {
    const body = await readJsonBody(exchange.req);
    if ('failed' in body) return sendFailure(exchange.res, body.failed);
    const record = await keys.byKeyOrHash(keyIn(body.json));
    if (record === null) return sendFailure(exchange.res, noKey());
    const changed = { ...record, isBlocked };
    await keys.put(changed);
    sendJson(exchange.res, 200, keyRow(changed));
  };
}

function keyIn(body: JsonObject): string {
  return asText(body['key']) ?? '';
}

function noKey() {
  return failure('not_found', 'Cannot find the key: GET /key/list shows all', 'key');
}

/** In the words that clients of such gateways know. */
function keyRow(record: ProxyKeyRecord): object {
  return {
    key_alias: record.name,
    key_name: `sk-...${record.tail}`,
    token: record.hash,
    team_id: record.team,
    user_id: record.userId,
    models: record.models ?? [],
    rpm_limit: record.rpm,
    tpm_limit: record.tpm,
    max_parallel_requests: record.parallelMax,
    max_budget_nano_usd: record.budgetNanoUsd,
    budget_duration_s: record.budgetWindowMs === null ? null : record.budgetWindowMs / 1_000,
    tags: record.tags,
    metadata: record.metadata,
    blocked: record.isBlocked,
    created_at: new Date(record.createdAt).toISOString(),
    expires: record.expiresAt === null ? null : new Date(record.expiresAt).toISOString(),
  };
}
