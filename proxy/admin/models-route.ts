/**
 * The model list and its administration.
 * Owns their replies; a key never appears in one.
 */
import type { Caller } from '../keys/caller.ts';
import { mayUse } from '../keys/caller.ts';
import type { ConfigProblem, ModelEntry } from '../config/config.ts';
import { failure, type Failure } from '../failure.ts';
import { readJsonBody, sendFailure, sendJson, type Exchange } from '../relay/http-exchange.ts';
import { asText } from '../relay/json-value.ts';
import { readModelEntry } from '../config/model-entry.ts';
import type { ProxyParts } from '../proxy-parts.ts';

/** Clients expect an instant here but none of them uses it: a constant keeps the list the same at every call. */
const CREATED = 1_677_610_602;

/** `GET /v1/models`: what the caller may use, in the order of the configuration. */
export function listModels(parts: ProxyParts, exchange: Exchange, caller: Caller): void {
  const names = parts.live.models.names().filter((name) => mayUse(caller, name));
  sendJson(exchange.res, 200, { data: names.map(modelRow), object: 'list' });
}

/** `GET /v1/models/{id}`: the id may hold slashes. */
export function showModel(
  parts: ProxyParts,
  exchange: Exchange,
  request: { caller: Caller; id: string },
): void {
  const isListed = parts.live.models.names().includes(request.id) && mayUse(request.caller, request.id);
  if (isListed) sendJson(exchange.res, 200, modelRow(request.id));
  else {
    const message = `Cannot show model "${request.id}": it is not listed; GET /v1/models lists all`;
    sendFailure(exchange.res, failure('model_not_found', message, 'model'));
  }
}

function modelRow(id: string): object {
  return { id, object: 'model', created: CREATED, owned_by: 'openai' };
}

/** `POST /model/new`: effective at once, kept over a reload, gone after a restart, and the reply says so (D25). */
export async function addModel(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.req);
  if ('failed' in body) return sendFailure(exchange.res, body.failed);
  const problems: ConfigProblem[] = [];
  const { env, vendor, live } = parts;
  const { customHeaders } = live.config;
  const context = { env, vendor, customHeaders, path: 'request_body', problems };
  const entry = readModelEntry(body.json, context);
  if (entry === null) return sendFailure(exchange.res, refusal(problems));
  if (parts.live.models.isConfigured(entry)) {
    const message = `Cannot add model "${entry.modelName}": the configuration has an entry of that name`;
    return sendFailure(exchange.res, failure('invalid_request', message, 'model_name'));
  }
  await parts.shared?.models.put(entry.id, body.json);
  const addition = parts.live.models.add(entry);
  await parts.shared?.life.announce();
  sendJson(exchange.res, 200, {
    ...entryRow(parts, entry),
    model_id: entry.id,
    persistent: false,
    replaced: addition === 'replaced',
    warnings: problems.map((problem) => problem.message),
  });
}

function refusal(problems: readonly ConfigProblem[]): Failure {
  const errors = problems.filter((problem) => problem.severity === 'error');
  const message = errors.map((problem) => problem.message).join('; ');
  return failure('invalid_request', message, errors[0]?.path ?? null);
}

/** `GET /model/info`: every entry as it is, wildcards unexpanded; `model_id` asks for one. */
export function showEntries(parts: ProxyParts, exchange: Exchange): void {
  const id = exchange.url.searchParams.get('model_id');
  const entries = parts.live.models.entries().filter((entry) => id === null || entry.id === id);
  if (id !== null && entries.length === 0) return sendFailure(exchange.res, noEntry(id));
  sendJson(exchange.res, 200, { data: entries.map((entry) => entryRow(parts, entry)) });
}

/** `POST /model/delete`: only what was added; the configuration is changed in its file. */
export async function deleteModel(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.req);
  if ('failed' in body) return sendFailure(exchange.res, body.failed);
  const id = asText(body.json['id']);
  if (id === null)
    return sendFailure(
      exchange.res,
      failure('invalid_request', 'Cannot delete a model: "id" must be a text', 'id'),
    );
  switch (parts.live.models.remove(id)) {
    case 'removed':
      await parts.shared?.models.remove(id);
      await parts.shared?.life.announce();
      return sendJson(exchange.res, 200, { message: `Model: ${id} deleted successfully`, deleted: id });
    case 'configured': {
      const message = `Cannot delete model "${id}": it is in the configuration; take it out of the file`;
      return sendFailure(exchange.res, failure('invalid_request', message, 'id'));
    }
    case 'unknown':
      return sendFailure(exchange.res, noEntry(id));
  }
}

function noEntry(id: string): Failure {
  return failure('model_not_found', `Cannot find model entry "${id}": GET /model/info shows all`, 'id');
}

function entryRow({ vendor, live }: ProxyParts, entry: ModelEntry): object {
  const prefix = entry.kind === 'vendor' ? `${vendor}_proxy/` : 'openai/';
  const path = entry.kind === 'vendor' ? entry.basePath.slice(0, -'/v1'.length) : entry.basePath;
  return {
    model_name: entry.modelName,
    [`${vendor}_params`]: {
      model: `${prefix}${entry.upstreamModel}`,
      api_base: `${entry.origin}${path}`,
      timeout: entry.timeoutMs / 1_000,
      weight: entry.weight,
    },
    model_info: {
      id: entry.id,
      persistent: live.models.isConfigured(entry),
      priced: entry.price !== null,
    },
  };
}
