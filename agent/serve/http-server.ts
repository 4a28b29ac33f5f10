/**
 * The HTTP side: key check, body reading, error answers and the list of routes. Owns no state of its own.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance } from 'fastify';
import { HttpError } from './http-error.ts';
import { isFullDisk } from '../disk-room.ts';
import { hexOf } from '../ids.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { messageOf, type Log } from './log.ts';
import { addBashRoutes } from '../routes/bash.ts';
import { addControlRoutes } from '../routes/conversation-control.ts';
import { addConversationRoutes } from '../routes/conversations.ts';
import { addEventRoutes } from '../routes/events.ts';
import { addExtensionRoutes } from '../routes/extensions.ts';
import { addFileRoutes } from '../routes/files.ts';
import { addGitRoutes } from '../routes/git.ts';
import { OPEN_PATHS, addHealthRoutes } from '../routes/health.ts';
import type { ServerContext } from './server-context.ts';

/** The server with all its routes, not listening yet. */
export async function buildHttpServer(context: ServerContext, log: Log): Promise<FastifyInstance> {
  const server = fastify({
    bodyLimit: BODY_BYTES_MAX,
    forceCloseConnections: 'idle',
    http: { IncomingMessage: HttpRequest },
    logger: false,
  });
  await server.register(multipart);
  addJsonBodies(server);
  addKeyCheck(server, keyCheck(context.config.sessionKey));
  server.addHook('preHandler', () => context.loaded);
  addErrorAnswers(server, context, log);
  addHealthRoutes(server, context);
  addConversationRoutes(server, context);
  addControlRoutes(server, context);
  addEventRoutes(server, context);
  addBashRoutes(server, context);
  addFileRoutes(server, context);
  addGitRoutes(server, context);
  addExtensionRoutes(server, context);
  return server;
}

/** An empty JSON body is no body: clients send the content type with every POST. */
function addJsonBodies(server: FastifyInstance): void {
  server.removeContentTypeParser('application/json');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    const text = body.toString();
    try {
      done(null, text.trim() === '' ? undefined : JSON.parse(text));
    } catch (error) {
      done(
        new HttpError(422, [
          { type: 'json_invalid', loc: ['body'], msg: `JSON decode error: ${messageOf(error)}` },
        ]),
      );
    }
  });
}

/** Whether a given value is the server's key, compared in constant time; without a key every caller has it. */
export function keyCheck(sessionKey: string | null): (given: unknown) => boolean {
  if (sessionKey === null) return () => true;
  const wanted = digest(sessionKey);
  return (given) => typeof given === 'string' && timingSafeEqual(digest(given), wanted);
}

function addKeyCheck(server: FastifyInstance, isKey: (given: unknown) => boolean): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const known = isKey(request.headers['x-session-api-key']);
    done(OPEN_PATHS.has(path) || known ? undefined : new HttpError(401, 'Unauthorized'));
  });
}

/** Digests have one length, which the constant-time comparison needs. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function addErrorAnswers(server: FastifyInstance, { vault, world }: ServerContext, log: Log): void {
  server.setNotFoundHandler((_request, reply) => reply.code(404).send({ detail: 'Not Found' }));
  server.setErrorHandler((error, request, reply) => {
    if (error instanceof HttpError)
      return reply.code(error.status).send({ detail: vault.deep(error.detail) });
    const status = statusOf(error);
    if (status < 500) return reply.code(status).send({ detail: vault.text(messageOf(error)) });
    // A client that waits for room has to learn that the disk is full.
    if (isFullDisk(error))
      return reply
        .code(507)
        .send({ detail: `The disk of the sandbox is full: ${vault.text(messageOf(error))}` });
    const errorId = hexOf(world.uuid());
    log('error', 'request failed', {
      error_id: errorId,
      route: request.routeOptions.url ?? '',
      error: messageOf(error),
    });
    return reply.code(500).send({
      detail: 'Internal Server Error',
      exception: vault.text(messageOf(error)),
      error_id: errorId,
    });
  });
}

/** The status the HTTP library gave an error of its own, as for a body that is too large; else 500. */
function statusOf(error: unknown): number {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' && status >= 400 ? status : 500;
}

/** A request as Node reads it, where only an upgrade to a WebSocket ends HTTP. */
class HttpRequest extends IncomingMessage {
  private asksForUpgrade = false;

  /** Node sets it before the headers are there, and reads it once they are. */
  get upgrade(): boolean {
    return this.asksForUpgrade && this.headers.upgrade?.trim().toLowerCase() === 'websocket';
  }

  set upgrade(asks: boolean | null) {
    this.asksForUpgrade = asks === true;
  }
}
