/**
 * The application API as a server: routes, who may call them, and what surrounds every answer.
 * Owns the listening, the bounds, headers, errors, audit and access log; what a route does is its handler's.
 */
import type { Server } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { asParleyError, ParleyError } from '../../core/parley-error.ts';
import type { Application, Principal } from './application.ts';
import { accessLine, type AccessLine } from './access-line.ts';
import { Gate } from './gate.ts';
import { bodyText, jsonBody } from './json-body.ts';
import { textOf } from './wire.ts';
import { HttpRequest } from './http-request.ts';
import { knownMethods, spelledMethods } from './known-methods.ts';
import { openApiDocument } from './openapi.ts';
import { RATE_LIMITS_DEFAULT, type RateLimits } from '../rates/rate-limit.ts';
import { isChange, type Route } from './route.ts';
import { HEADER_BYTES_MAX, refuseAddress, refuseUnreadable } from './unreadable.ts';
import { InvalidRequest, validated } from './validation.ts';

/** Secrets of 50 times 64 KiB, and a message with a little room. */
const BODY_BYTES_MAX = 6 * 1024 * 1024;
/** A client that sends its request slower than this is disconnected. */
const REQUEST_MS_MAX = 120_000;

/** `port`: 0 takes a free one. A unix socket: its file is the authority, so every caller on it is `owner`. */
export type ListenAt =
  | { readonly host: string; readonly port: number; readonly owner?: never }
  | { readonly path: string; readonly owner: Principal };

export interface ServerOptions {
  readonly at: ListenAt;
  readonly routes: readonly Route[];
  /** Origins of browsers that may call; none by default. */
  readonly corsOrigins?: readonly string[];
  readonly rateLimits?: RateLimits;
  readonly log: (line: AccessLine) => void;
  /** Adds what is no route of a table: streams and relays. */
  extend?(app: FastifyInstance, gate: Gate): void;
}

/** The API, listening. */
export interface ApplicationServer {
  /** `http://host:port` with the port in use; the path of a unix socket. */
  readonly url: string;
  readonly http: Server;
  close(): Promise<void>;
}

/** @throws Error the address cannot be listened on */
export async function startApplicationServer(
  application: Application,
  options: ServerOptions,
): Promise<ApplicationServer> {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_MS_MAX,
    forceCloseConnections: true,
    exposeHeadRoutes: true,
    // Longer than any address may be: how long a parameter is, is for its schema to say.
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
    http: { maxHeaderSize: HEADER_BYTES_MAX, IncomingMessage: HttpRequest },
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: refuseAddress,
    genReqId: () => application.randomHex(16),
  });
  acceptBodies(app);
  app.decorateRequest('caller');
  const { at, rateLimits = RATE_LIMITS_DEFAULT } = options;
  const gate = new Gate(application, { limits: rateLimits, owner: at.owner ?? null });
  surround(app, { application, options });
  const { routes } = options;
  for (const one of routes) mount(app, { application, gate }, one);
  const document = (): unknown =>
    openApiDocument(routes, {
      version: application.version,
      url: application.publicUrl(),
      executionStatuses: application.dialect.executionStatuses,
    });
  app.get('/openapi.json', (_request, reply) => reply.send(document()));
  options.extend?.(app, gate);
  const url = await app.listen('path' in at ? { path: at.path } : { host: at.host, port: at.port });
  return { url, http: app.server, close: () => app.close() };
}

/** An empty body is none, whatever its type says: many clients send the header with every request. */
function acceptBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined);
    try {
      done(null, jsonBody(bodyText(bytes as Buffer)));
    } catch (error) {
      done(asParleyError(error));
    }
  });
}

interface Around {
  readonly application: Application;
  readonly options: ServerOptions;
}

function surround(app: FastifyInstance, { application, options }: Around): void {
  const allowed = new Set(options.corsOrigins ?? []);
  const addresses = [...options.routes, ...OTHER_ADDRESSES];
  const [methodsOf, spelledOut] = [knownMethods(addresses), spelledMethods(addresses)];
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
    const { origin } = request.headers;
    if (origin !== undefined && allowed.has(origin)) {
      void reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
      if (request.method === 'OPTIONS') return await reply.headers(PREFLIGHT_HEADERS).code(204).send();
    }
    // In this hook, because the library would first parse a body, and match a literal segment as an id.
    const path = pathOf(request.url);
    // A path that no route spells out was taken by the template that it fits.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    if (!request.is404 && spelledOut(path)?.includes(method) !== false) return;
    const methods = methodsOf(path);
    if (methods.length === 0) throw new ParleyError('not_found', 'Not Found');
    void reply.header('allow', methods.flatMap(withHead).join(', '));
    throw new ParleyError('method_not_allowed', 'Method Not Allowed');
  });
  app.addHook('onResponse', (request, reply, done) => {
    options.log(accessLine(request, reply, application.world.clock.now()));
    done();
  });
  app.setErrorHandler((error, _request, reply) => answerError(application, reply, error));
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Every GET route answers HEAD, too. */
function withHead(method: string): readonly string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** Addresses that no list of routes holds. */
const OTHER_ADDRESSES = [
  { method: 'GET', url: '/openapi.json' },
  { method: 'GET', url: '/api/v1/conversation/:conversation_id/events/stream' },
  { method: 'GET', url: '/api/v1/runs/:run_id/stream' },
] as const;

/** Nothing of this is a page, so nothing of it may be framed, run or kept. */
const SECURITY_HEADERS = {
  'cache-control': 'no-cache, no-store, must-revalidate, max-age=0',
  pragma: 'no-cache',
  expires: '0',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const;

const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, x-session-api-key',
  'access-control-max-age': '600',
} as const;

function answerError(application: Application, reply: FastifyReply, thrown: unknown): FastifyReply {
  const error = refusedByLibrary(thrown) ?? asParleyError(thrown);
  if (error instanceof InvalidRequest)
    return reply.code(error.status).send({ detail: error.findings, code: error.code });
  const { dialect } = application;
  const retryAfter = error.details['retry_after'];
  if (typeof retryAfter === 'number') void reply.header('retry-after', String(retryAfter));
  else if (error.retry && error.status !== 502) void reply.header('retry-after', '1');
  return reply.code(dialect.errorStatus(error)).send(dialect.errorBody(hidden(error)));
}

/** The cause of a bug is for the operator's log, and not for a caller. */
function hidden(error: ParleyError): ParleyError {
  return error.code === 'internal' ? new ParleyError('internal', 'Internal Server Error') : error;
}

/** What the HTTP library refuses by itself: too large, not JSON, a type that nothing reads. */
function refusedByLibrary(error: unknown): ParleyError | null {
  if (error instanceof ParleyError || !(error instanceof Error) || !('statusCode' in error)) return null;
  const status = Number(error.statusCode);
  if (status === 413) return new ParleyError('request_too_large', 'Cannot take the request: it is too large');
  return status >= 400 && status < 500 ? new ParleyError('invalid_request', error.message) : null;
}

interface Mounted {
  readonly application: Application;
  readonly gate: Gate;
}

function mount(app: FastifyInstance, { application, gate }: Mounted, one: Route): void {
  app.route({
    method: one.method,
    url: one.url,
    // Before the body is read: a client without a key cannot fill the memory.
    onRequest: async (request) => {
      request.caller = await gate.admit(one.access, request);
    },
    handler: async (request, reply) => {
      const run = (): Promise<unknown> => carryOut(application, one, { request, reply });
      const answer = isChange(one) ? await audited({ application, one, request, run }) : await run();
      if (answer === null) return reply;
      return reply
        .code(one.status ?? 200)
        .type('application/json; charset=utf-8')
        .send(textOf(answer));
    },
  });
}

async function carryOut(
  application: Application,
  one: Route,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<unknown> {
  const { params, query, body } = validated(one, request);
  return await one.handler({
    application,
    caller: request.caller as never,
    params,
    query,
    body,
    request,
    reply,
  });
}

/** Written before the answer goes out: what is answered is in the log. */
async function audited({
  application,
  one,
  request,
  run,
}: {
  readonly application: Application;
  readonly one: Route;
  readonly request: FastifyRequest;
  run(): Promise<unknown>;
}): Promise<unknown> {
  const note = async (status: number): Promise<void> => {
    const { caller } = request;
    await application.audit.append({
      at: application.world.clock.now(),
      userId: caller?.userId ?? null,
      keyId: caller?.kind === 'key' ? caller.keyId : null,
      action: one.operation,
      about: Object.values(request.params as Readonly<Record<string, string>>).join('/'),
      status,
    });
  };
  try {
    const answer = await run();
    await note(one.status ?? 200);
    return answer;
  } catch (error) {
    await note(application.dialect.errorStatus(asParleyError(error)));
    throw error;
  }
}
