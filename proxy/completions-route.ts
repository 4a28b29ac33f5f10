/**
 * `POST /v1/chat/completions`: the hot path.
 * Owns the order of the checks and the opening of the spend row before dispatch (D26); must not touch a reply's bytes.
 */
import type { SpendRow } from '../core/spend.ts';
import { normalUuid } from '../core/ids.ts';
import { mayUse, type Caller } from './caller.ts';
import { readCompletionRequest, type CompletionRequest } from './completion-request.ts';
import { failure, type Failure } from './failure.ts';
import { GatewayCall } from './gateway-call.ts';
import { metadataHeader } from './header-names.ts';
import { readBody, sendFailure, type Exchange } from './http-exchange.ts';
import { REQUEST_BYTES_MAX } from './limits.ts';
import type { Resolved } from './model-table.ts';
import type { ProxyParts } from './proxy-parts.ts';
import { upstreamHeaders } from './request-headers.ts';
import { closeRow, openRow, readMetadata, type CloseFacts } from './spend-row.ts';

type Target = Extract<Resolved, { kind: 'found' }>;

export async function serveCompletion(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const failed = await startCall(parts, exchange);
  if (failed !== null) sendFailure(exchange.res, failed);
}

async function startCall(parts: ProxyParts, exchange: Exchange): Promise<Failure | null> {
  const caller = await parts.findCaller(exchange.req.headers);
  if ('code' in caller) return caller;
  const body = await readBody(exchange.req, REQUEST_BYTES_MAX);
  if ('code' in body) return body;
  const reading = readCompletionRequest(body);
  if (!reading.ok)
    return failure('invalid_request', `Cannot read the request: ${reading.reason}`, reading.param);
  const target = findTarget(parts, caller, reading.request.model);
  if ('code' in target) return target;
  return sendCall(parts, exchange, { caller, request: reading.request, target });
}

function findTarget(parts: ProxyParts, caller: Caller, model: string): Target | Failure {
  const resolved = parts.models.resolve(model);
  switch (resolved.kind) {
    case 'unknown':
      return failure(
        'model_not_found',
        `Cannot call model "${model}": it is not listed; GET /v1/models lists all`,
        'model',
      );
    case 'bare':
      return failure(
        'invalid_request',
        `Cannot call model "${model}": write it as "provider/model"`,
        'model',
      );
    case 'found': {
      const isAllowed = mayUse(caller, model) || mayUse(caller, resolved.entry.modelName);
      return isAllowed
        ? resolved
        : failure('forbidden', `Cannot call model "${model}": the API key does not allow it`, 'model');
    }
    default:
      return resolved satisfies never;
  }
}

interface Call {
  readonly caller: Caller;
  readonly request: CompletionRequest;
  readonly target: Target;
}

function sendCall(parts: ProxyParts, exchange: Exchange, call: Call): Failure | null {
  const { entry, upstreamModel } = call.target;
  const body = call.request.rewrite(upstreamModel);
  const outcome = upstreamHeaders(parts.headerRule, {
    rawHeaders: exchange.req.rawHeaders,
    sessionId: call.caller.sessionId,
    entry,
    contentLength: body.reduce((sum, piece) => sum + piece.length, 0),
  });
  if (!outcome.ok) {
    const message = `Cannot forward header "${outcome.name}": its value holds a character that cannot be sent`;
    return failure('header_not_sendable', message, outcome.name);
  }
  // A caller that left while its key was looked up never reaches the gateway, so there is nothing to account for.
  if (exchange.res.destroyed) return null;
  const row = openRow(openFacts(parts, exchange, call));
  const refused = openInSpool(parts, row);
  if (refused !== null) return refused;
  exchange.res.setHeader(`x-${parts.vendor}-call-id`, row.callId);
  const gatewayCall = new GatewayCall({
    res: exchange.res,
    entry,
    row,
    headers: outcome.headers,
    body,
    isUsageShown: call.request.usageAsked,
    onClosed: (facts) => {
      parts.openCalls.delete(gatewayCall);
      closeCall(parts, row, facts);
    },
  });
  parts.openCalls.add(gatewayCall);
  gatewayCall.dispatch(parts.pools.to(entry.origin));
  return null;
}

function openFacts(parts: ProxyParts, exchange: Exchange, call: Call): Parameters<typeof openRow>[0] {
  const { caller, request, target } = call;
  const { headers } = exchange.req;
  return {
    callId: parts.newId(),
    startedAt: parts.clock.now(),
    route: exchange.url.pathname,
    modelName: request.model,
    upstreamModel: target.upstreamModel,
    streamed: request.streamed,
    sessionId: sessionOf(caller, headers[parts.headerRule.sessionHeader]),
    user: request.user ?? caller.userId,
    keyName: caller.name,
    metadata: readMetadata(headers[metadataHeader(parts.vendor)]),
  };
}

const UUID_HEX = /^[0-9a-f]{32}$/;

/** The conversation the key is bound to; only a key bound to none may name one itself (D19, D23). */
function sessionOf(caller: Caller, header: string | string[] | undefined): string | null {
  if (caller.sessionId !== null) return normalUuid(caller.sessionId);
  const named = typeof header === 'string' ? normalUuid(header) : '';
  return UUID_HEX.test(named) ? named : null;
}

function openInSpool(parts: ProxyParts, row: SpendRow): Failure | null {
  try {
    parts.writer.open(row);
  } catch (cause) {
    parts.log.error(
      { callId: row.callId, cause: String(cause) },
      'Cannot open a spend row: the call was not sent',
    );
    return failure('store_unavailable', 'Cannot send the call: its spend row cannot be kept');
  }
  parts.counters.callsTotal += 1;
  return null;
}

function closeCall(parts: ProxyParts, row: SpendRow, facts: Omit<CloseFacts, 'endedAt'>): void {
  const closed = closeRow(row, { ...facts, endedAt: parts.clock.now() });
  parts.writer.close(closed);
  parts.counters[facts.state] += 1;
  if (closed.cost === null) parts.counters.unpriced += 1;
  parts.log.info(
    {
      callId: closed.callId,
      model: closed.modelName,
      state: closed.state,
      status: closed.httpStatus,
      promptTokens: closed.promptTokens,
      completionTokens: closed.completionTokens,
      durationMs: (closed.endedAt ?? closed.startedAt) - closed.startedAt,
    },
    'Model call ended',
  );
}
