/**
 * The server behind the socket that is bound into every sandbox for callbacks.
 * Owns its bounds; must not serve anything else to a sandbox.
 */
import { rm } from 'node:fs/promises';
import Fastify from 'fastify';
import { answerErrors } from './error-answer.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import { RefusalNotes } from './refusal-notes.ts';
import { registerWebhookRoutes, type WebhookWorld } from './webhook-routes.ts';

/** A batch of events is at most 5 MiB; a conversation's record is smaller. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** Open connections of all sandboxes together: each takes a descriptor of the engine, whoever has no key included. */
export const CONNECTIONS_MAX = 512;
/** A batch comes over a socket of this machine in milliseconds; who does not send its own gives its place back. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUT_LOOK_MS = 5_000;

export interface WebhookServer {
  close(): Promise<void>;
}

/** Listens on a unix socket; one left there by an earlier process is replaced. Refused callers are noted in `audit`. */
export async function startWebhookServer(
  world: WebhookWorld,
  socketPath: string,
  audit: AuditLog,
): Promise<WebhookServer> {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_LOOK_MS },
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  answerErrors(app);
  registerWebhookRoutes(app, world, new RefusalNotes(audit, world.clock));
  await rm(socketPath, { force: true });
  await app.listen({ path: socketPath });
  return { close: () => app.close() };
}
