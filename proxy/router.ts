/**
 * Which request goes where.
 * Owns the list of routes and who may call each; must not read a body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from './caller.ts';
import { serveCompletion } from './completions-route.ts';
import { failure, type Failure } from './failure.ts';
import { sendFailure, sendJson, type Exchange } from './http-exchange.ts';
import { addModel, listModels, showModel } from './models-route.ts';
import type { ProxyParts } from './proxy-parts.ts';
import { exportSpend } from './spend-route.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly serve: (parts: ProxyParts, exchange: Exchange, id: string) => Promise<void> | void;
}

const ROUTES: readonly Route[] = [
  { method: 'POST', path: /^(?:\/v1)?\/chat\/completions$/, serve: serveCompletion },
  { method: 'GET', path: /^(?:\/v1)?\/models$/, serve: forCaller(listModels) },
  {
    method: 'GET',
    path: /^(?:\/v1)?\/models\/(.+)$/,
    serve: forCaller((parts, exchange, caller, id) => showModel(parts, exchange, { caller, id })),
  },
  { method: 'POST', path: /^\/model\/new$/, serve: forAdmin(addModel) },
  { method: 'GET', path: /^\/spend\/logs$/, serve: forAdmin(exportSpend) },
  {
    method: 'GET',
    path: /^\/health\/live(?:liness|ness)$/,
    serve: (_parts, { res }) => sendJson(res, 200, "I'm alive!"),
  },
  { method: 'GET', path: /^\/health\/readiness$/, serve: showReadiness },
];

/** Serves one request; whatever a route throws becomes a 500 in the envelope, and a log line. */
export async function route(parts: ProxyParts, req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const url = URL.canParse(req.url ?? '', 'http://proxy') ? new URL(req.url ?? '', 'http://proxy') : null;
    if (url === null)
      sendFailure(res, failure('invalid_request', 'Cannot read the request: its target is no path'));
    else await serveFirst(parts, { req, res, url });
  } catch (cause) {
    parts.log.error(
      { cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) },
      'Cannot serve a request',
    );
    sendFailure(res, failure('internal', 'Cannot serve the request: an internal error was logged'));
  }
}

async function serveFirst(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const { method } = exchange.req;
  const { pathname } = exchange.url;
  let isKnownPath = false;
  for (const candidate of ROUTES) {
    const match = candidate.path.exec(pathname);
    if (match === null) continue;
    if (candidate.method === method) return candidate.serve(parts, exchange, decoded(match[1] ?? ''));
    isKnownPath = true;
  }
  const place = `"${method ?? ''} ${pathname}"`;
  const failed = isKnownPath
    ? failure('method_not_allowed', `Cannot serve ${place}: the route has another method`)
    : failure('not_found', `Cannot serve ${place}: there is no such route`);
  sendFailure(exchange.res, failed);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type ForCaller = (parts: ProxyParts, exchange: Exchange, caller: Caller, id: string) => Promise<void> | void;

function forCaller(serve: ForCaller): Route['serve'] {
  return async (parts, exchange, id) => {
    const caller = await parts.findCaller(exchange.req.headers);
    if (isFailure(caller)) sendFailure(exchange.res, caller);
    else await serve(parts, exchange, caller, id);
  };
}

function forAdmin(serve: ForCaller): Route['serve'] {
  return forCaller((parts, exchange, caller, id) => {
    if (caller.isAdmin) return serve(parts, exchange, caller, id);
    sendFailure(
      exchange.res,
      failure('forbidden', 'Cannot use an admin route: the API key is not the master key'),
    );
  });
}

function isFailure(value: Caller | Failure): value is Failure {
  return 'code' in value;
}

/** Ready even while the store is away: the spool takes the rows. No model is ever called for it. */
function showReadiness(parts: ProxyParts, exchange: Exchange): void {
  const spend = parts.writer.isStoreReachable ? 'connected' : 'spooling';
  sendJson(exchange.res, 200, { status: 'healthy', spend });
}
