/**
 * The model list and `POST /model/new`.
 * Owns their replies; a key never appears in one.
 */
import type { Caller } from './caller.ts';
import { mayUse } from './caller.ts';
import type { ConfigProblem, ModelEntry } from './config.ts';
import { failure, type Failure } from './failure.ts';
import { readBody, sendFailure, sendJson, type Exchange } from './http-exchange.ts';
import { parseJson } from './json-value.ts';
import { ADMIN_REQUEST_BYTES_MAX } from './limits.ts';
import { readModelEntry } from './model-entry.ts';
import type { ProxyParts } from './proxy-parts.ts';

/** Clients expect an instant here but none of them uses it: a constant keeps the list the same at every call. */
const CREATED = 1_677_610_602;

/** `GET /v1/models`: what the caller may use, in the order of the configuration. */
export function listModels(parts: ProxyParts, exchange: Exchange, caller: Caller): void {
  const names = parts.models.names().filter((name) => mayUse(caller, name));
  sendJson(exchange.res, 200, { data: names.map(modelRow), object: 'list' });
}

/** `GET /v1/models/{id}`: the id may hold slashes. */
export function showModel(
  parts: ProxyParts,
  exchange: Exchange,
  request: { caller: Caller; id: string },
): void {
  const isListed = parts.models.names().includes(request.id) && mayUse(request.caller, request.id);
  if (isListed) sendJson(exchange.res, 200, modelRow(request.id));
  else {
    const message = `Cannot show model "${request.id}": it is not listed; GET /v1/models lists all`;
    sendFailure(exchange.res, failure('model_not_found', message, 'model'));
  }
}

function modelRow(id: string): object {
  return { id, object: 'model', created: CREATED, owned_by: 'openai' };
}

/** `POST /model/new`: effective at once, gone after a restart, and the reply says so (D25). */
export async function addModel(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const body = await readBody(exchange.req, ADMIN_REQUEST_BYTES_MAX);
  if ('code' in body) return sendFailure(exchange.res, body);
  const problems: ConfigProblem[] = [];
  const { env, vendor } = parts;
  const entry = readModelEntry(parseJson(body.toString('utf8')), {
    env,
    vendor,
    path: 'request_body',
    problems,
  });
  if (entry === null) return sendFailure(exchange.res, refusal(problems));
  if (!parts.models.add(entry)) {
    const message = `Cannot add model "${entry.modelName}": the configuration has an entry of that name`;
    return sendFailure(exchange.res, failure('invalid_request', message, 'model_name'));
  }
  sendJson(exchange.res, 200, addedModel(vendor, entry, problems));
}

function refusal(problems: readonly ConfigProblem[]): Failure {
  const errors = problems.filter((problem) => problem.severity === 'error');
  const message = errors.map((problem) => problem.message).join('; ');
  return failure('invalid_request', message, errors[0]?.path ?? null);
}

function addedModel(vendor: string, entry: ModelEntry, problems: readonly ConfigProblem[]): object {
  const prefix = entry.kind === 'vendor' ? `${vendor}_proxy/` : 'openai/';
  const suffix = entry.kind === 'vendor' ? '/v1/chat/completions' : '/chat/completions';
  const apiBase = `${entry.origin}${entry.completionsPath.slice(0, -suffix.length)}`;
  return {
    model_name: entry.modelName,
    [`${vendor}_params`]: { model: `${prefix}${entry.upstreamModel}`, api_base: apiBase },
    persistent: false,
    warnings: problems.map((problem) => problem.message),
  };
}
