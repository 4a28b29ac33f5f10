/**
 * The server behind the socket that is bound into every sandbox for callbacks.
 * Owns its bounds; must not serve anything else to a sandbox.
 */
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import Fastify from 'fastify';
import { ConnectionShares } from '../core/shares/connection-shares.ts';
import { answerErrors } from './error-answer.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import { RefusalNotes } from './refusal-notes.ts';
import { registerWebhookRoutes, type WebhookWorld } from './webhook-routes.ts';

/** A batch of several events is at most 1 MiB; a conversation's record is smaller. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Open connections of all sandboxes together: each takes a descriptor of the engine, also one without a key. */
export const CONNECTIONS_MAX = 512;
/** Of one sandbox: more than it has batches on their way. */
export const CONNECTIONS_PER_SANDBOX_MAX = 32;
/** A batch comes over a socket of this machine in milliseconds; a sender that is slower loses its place. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const TIMEOUT_POLL_MS = 5_000;

export interface WebhookServer {
  close(): Promise<void>;
}

export interface WebhookOptions {
  /** Lower than the default where the process may open few descriptors. */
  readonly connectionsMax?: number;
  /** Called when a bound strikes. */
  readonly onStrike?: (text: string) => void;
}

/** Listens on a unix socket; one left there by an earlier process is replaced. Refused callers are noted in `audit`. */
export async function startWebhookServer(
  world: WebhookWorld,
  socketPath: string,
  audit: AuditLog,
  { connectionsMax = CONNECTIONS_MAX, onStrike = () => undefined }: WebhookOptions = {},
): Promise<WebhookServer> {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_POLL_MS },
  });
  const bounds = { max: connectionsMax, perOwnerMax: CONNECTIONS_PER_SANDBOX_MAX };
  const shares = new ConnectionShares<Socket>(bounds, (strike) =>
    onStrike(`Cannot keep a connection to the callback socket: too many of ${strike}`),
  );
  app.server.on('connection', (socket) => shares.opened(socket));
  app.server.maxConnections = connectionsMax;
  answerErrors(app);
  registerWebhookRoutes(app, world, {
    refusals: new RefusalNotes(audit, world.clock),
    batchBytesMax: BODY_BYTES_MAX,
    mayConnect: ({ raw }, { sandboxId }) => shares.belongsTo(raw.socket, sandboxId),
    onStrike,
  });
  await rm(socketPath, { force: true });
  await app.listen({ path: socketPath });
  return { close: () => app.close() };
}
