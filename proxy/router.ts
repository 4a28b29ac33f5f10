/**
 * Which request goes where.
 * Owns the list of routes and who may call each; must not read a body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mayStay } from './spend/caller-share.ts';
import { isAdmin, type Caller } from './keys/caller.ts';
import { failure, type Failure } from './failure.ts';
import { showHealth, showLiveness, showReadiness } from './admin/health-route.ts';
import { sendFailure, type Exchange } from './relay/http-exchange.ts';
import { blockKey, deleteKeys, listKeys, makeKey, showKey, updateKey, withKeys } from './keys/keys-route.ts';
import { showMetrics } from './admin/metrics-route.ts';
import { addModel, deleteModel, listModels, showEntries, showModel } from './admin/models-route.ts';
import type { ProxyParts } from './proxy-parts.ts';
import { CHAT, COUNT_TOKENS, EMBEDDINGS, MESSAGES, RESPONSES, type RelayKind } from './relay/relay-kind.ts';
import { serveRelay } from './relay/relay-route.ts';
import { exportSpend, showDaily } from './spend/spend-route.ts';

type Serve = (parts: ProxyParts, exchange: Exchange, id: string) => Promise<void> | undefined;

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly serve: Serve;
}

/** Paths without a parameter are looked up; the first of them is the hot one. */
const FIXED: Readonly<Record<string, Readonly<Partial<Record<string, Serve>>>>> = {
  '/v1/chat/completions': { POST: relay(CHAT) },
  '/chat/completions': { POST: relay(CHAT) },
  '/v1/responses': { POST: relay(RESPONSES) },
  '/responses': { POST: relay(RESPONSES) },
  '/v1/embeddings': { POST: relay(EMBEDDINGS) },
  '/embeddings': { POST: relay(EMBEDDINGS) },
  '/v1/messages': { POST: relay(MESSAGES) },
  '/v1/messages/count_tokens': { POST: relay(COUNT_TOKENS) },
  '/v1/models': { GET: forCaller(listModels) },
  '/models': { GET: forCaller(listModels) },
  '/model/new': { POST: forAdmin(addModel) },
  '/model/info': { GET: forAdmin(showEntries) },
  '/v1/model/info': { GET: forAdmin(showEntries) },
  '/model/delete': { POST: forAdmin(deleteModel) },
  '/key/generate': { POST: forAdmin(withKeys(makeKey)) },
  '/key/update': { POST: forAdmin(withKeys(updateKey)) },
  '/key/delete': { POST: forAdmin(withKeys(deleteKeys)) },
  '/key/list': { GET: forAdmin(withKeys(listKeys)) },
  '/key/info': { GET: forAdmin(withKeys(showKey)) },
  '/key/block': { POST: forAdmin(withKeys(blockKey(true))) },
  '/key/unblock': { POST: forAdmin(withKeys(blockKey(false))) },
  '/spend/logs': { GET: forAdmin(exportSpend) },
  '/spend/daily': { GET: forAdmin(showDaily) },
  '/metrics': { GET: forAdmin(showMetrics) },
  '/health': { GET: forAdmin(showHealth) },
  '/health/liveliness': { GET: forAnyone(showLiveness) },
  '/health/liveness': { GET: forAnyone(showLiveness) },
  '/health/readiness': { GET: forAnyone(showReadiness) },
};

/** A model's name may hold slashes. */
const WITH_MODEL: readonly Route[] = [
  {
    method: 'GET',
    path: /^(?:\/v1)?\/models\/(.+)$/,
    serve: forCaller((parts, exchange, caller, id) => showModel(parts, exchange, { caller, id })),
  },
  {
    method: 'POST',
    path: /^(?:\/v1)?\/(?:engines|openai\/deployments)\/(.+)\/chat\/completions$/,
    serve: relay(CHAT),
  },
  {
    method: 'POST',
    path: /^(?:\/v1)?\/(?:engines|openai\/deployments)\/(.+)\/embeddings$/,
    serve: relay(EMBEDDINGS),
  },
];

/** Serves one request; whatever a route throws becomes a 500 in the envelope, and a log line. */
export function route(parts: ProxyParts, req: IncomingMessage, res: ServerResponse): void {
  if (parts.isDraining) res.setHeader('connection', 'close');
  try {
    const url = urlOf(req.url ?? '');
    if (url === null)
      sendFailure(res, failure('invalid_request', 'Cannot read the request: its target is no path'));
    else serveFirst(parts, { req, res, url })?.catch((cause: unknown) => fail(parts, res, cause));
  } catch (cause) {
    fail(parts, res, cause);
  }
}

function fail(parts: ProxyParts, res: ServerResponse, cause: unknown): void {
  parts.log.error(
    { cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) },
    'Cannot serve a request',
  );
  sendFailure(res, failure('internal', 'Cannot serve the request: an internal error was logged'));
}

/** What is already a plain path needs no parsing. */
function urlOf(target: string): Exchange['url'] | null {
  if (Object.hasOwn(FIXED, target)) return { pathname: target, searchParams: NO_QUERY };
  return URL.canParse(target, 'http://proxy') ? new URL(target, 'http://proxy') : null;
}

const NO_QUERY = new URLSearchParams();

function serveFirst(parts: ProxyParts, exchange: Exchange): Promise<void> | undefined {
  const { method = '' } = exchange.req;
  const { pathname } = exchange.url;
  const fixed = Object.hasOwn(FIXED, pathname) ? FIXED[pathname] : undefined;
  const serve = fixed !== undefined && Object.hasOwn(fixed, method) ? fixed[method] : undefined;
  if (serve !== undefined) return serve(parts, exchange, '');
  let isKnownPath = fixed !== undefined;
  for (const candidate of fixed === undefined ? WITH_MODEL : []) {
    const match = candidate.path.exec(pathname);
    if (match === null) continue;
    if (candidate.method === method) return candidate.serve(parts, exchange, decoded(match[1] ?? ''));
    isKnownPath = true;
  }
  const place = `"${method} ${pathname.slice(0, PATH_SHOWN_MAX)}"`;
  const failed = isKnownPath
    ? failure('method_not_allowed', `Cannot serve ${place}: the route has another method`)
    : failure('not_found', `Cannot serve ${place}: there is no such route`);
  sendFailure(exchange.res, failed);
  return undefined;
}

/** Enough to recognise a typing error. */
const PATH_SHOWN_MAX = 200;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function relay(kind: RelayKind): Serve {
  return (parts, exchange, pathModel) => serveRelay(parts, exchange, { kind, pathModel });
}

type ForCaller = (parts: ProxyParts, exchange: Exchange, caller: Caller, id: string) => Promise<void> | void;

function forAnyone(serve: (parts: ProxyParts, exchange: Exchange) => void): Serve {
  return (parts, exchange) => {
    serve(parts, exchange);
    return undefined;
  };
}

function forCaller(serve: ForCaller): Serve {
  return async (parts, exchange, id) => {
    const caller = await parts.findCaller(exchange.req);
    const refused = isFailure(caller) ? caller : mayStay(parts.sandboxes, exchange, caller);
    if (refused !== null) sendFailure(exchange.res, refused);
    else await serve(parts, exchange, caller as Caller, id);
  };
}

function forAdmin(serve: ForCaller): Serve {
  return forCaller((parts, exchange, caller, id) => {
    if (isAdmin(caller)) return serve(parts, exchange, caller, id);
    sendFailure(
      exchange.res,
      failure('forbidden', 'Cannot use an admin route: the API key is not the master key'),
    );
  });
}

function isFailure(value: Caller | Failure): value is Failure {
  return 'code' in value;
}
