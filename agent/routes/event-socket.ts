/**
 * `/sockets/events/{id}`: the handshake of a WebSocket, the key in its first frame, and messages that come over it.
 * Owns who is let in and the close codes; what is sent is event-sockets.ts's. A key in the address is refused (D5).
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

import { WebSocketServer, type WebSocket } from 'ws';
import { z } from 'zod';

import { sendMessage } from '../conversation/conversation-commands.ts';
import type { Entry } from '../conversation/conversation-registry.ts';
import type { EventSockets, Listening, Resend } from '../conversation/event-sockets.ts';
import { hyphenatedUuid } from '../ids.ts';
import { BODY_BYTES_MAX, SOCKET_AUTH_MS, SOCKET_CLOSE_MS, SOCKET_PING_MS } from '../limits.ts';
import { jsonOrNull } from '../model/llm-response.ts';
import { messageOf } from '../serve/log.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { parseTimestampUs } from '../timestamp.ts';
import { messageSchema } from '../serve/wire-schema.ts';

const PATH = /^\/sockets\/events\/([0-9a-fA-F-]{32,36})$/;
/** Close codes of the reference; clients do not come back after the first two. */
const CLOSE = { notAuthenticated: 4001, notFound: 4004, tooMany: 1013 } as const;

const authSchema = z.object({ type: z.literal('auth'), session_api_key: z.string() });

interface SocketSide {
  readonly context: ServerContext;
  readonly sockets: EventSockets;
  /** Compares in constant time; true for every caller when the server has no key. */
  readonly isKey: (given: unknown) => boolean;
}

/** Takes upgrades of the HTTP server; returns how to end all sockets. */
export function serveEventSockets(side: SocketSide): {
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly close: () => void;
} {
  const server = new WebSocketServer({ noServer: true, maxPayload: BODY_BYTES_MAX });
  const alive = new WeakSet<WebSocket>();
  const beat = setInterval(() => {
    for (const socket of server.clients) {
      if (!alive.delete(socket)) socket.terminate();
      else socket.ping();
    }
  }, SOCKET_PING_MS);
  beat.unref();
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // A client that leaves before the answer breaks the socket, whose error has no other listener.
    socket.on('error', () => socket.destroy());
    const [path = '', query] = (request.url ?? '').split('?', 2);
    const id = PATH.exec(path)?.[1];
    if (id === undefined) return refuse(socket, '404 Not Found');
    const parameters = new URLSearchParams(query);
    const inHeader = request.headers['x-session-api-key'];
    const isInAddress = parameters.has('session_api_key');
    const isNamed = inHeader !== undefined || isInAddress;
    if (isNamed && (isInAddress || !side.isKey(inHeader))) return refuse(socket, '403 Forbidden');
    server.handleUpgrade(request, socket, head, (client) => {
      alive.add(client);
      client.on('pong', () => alive.add(client));
      // The library closes a client that breaks the protocol; no other code handles its error.
      client.on('error', () => undefined);
      void welcome(side, client, { id, isAdmitted: isNamed, listening: listeningOf(parameters) });
    });
  };
  const close = (): void => {
    clearInterval(beat);
    for (const socket of server.clients) {
      socket.close(1001);
      // One that does not answer must not hold the server's stop.
      setTimeout(() => socket.terminate(), SOCKET_CLOSE_MS).unref();
    }
    server.close();
  };
  return { upgrade, close };
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

async function welcome(
  side: SocketSide,
  client: WebSocket,
  wish: { readonly id: string; readonly isAdmitted: boolean; readonly listening: Listening },
): Promise<void> {
  const { context, sockets } = side;
  // Frames may come before the conversations are loaded; they wait here, in order.
  const waiting: string[] = [];
  let take = (frame: string): void => void waiting.push(frame);
  client.on('message', (data: Buffer) => take(data.toString('utf8')));
  if (!wish.isAdmitted && !(await isAuthenticated(side, client, (next) => (take = next), waiting))) {
    client.close(CLOSE.notAuthenticated, 'Authentication failed');
    return;
  }
  await context.loaded;
  const entry = context.registry.get(hyphenatedUuid(wish.id) ?? '');
  if (entry === null) return client.close(CLOSE.notFound, 'Conversation not found');
  if (!sockets.add(client, entry.conversation, wish.listening))
    return client.close(CLOSE.tooMany, 'Too many listeners');
  take = (frame) => takeMessage(side, client, entry, frame);
  for (const frame of waiting.splice(0)) take(frame);
}

/** The first frame holds the key, and comes in time. */
async function isAuthenticated(
  { context, isKey }: SocketSide,
  client: WebSocket,
  onFrame: (take: (frame: string) => void) => void,
  waiting: string[],
): Promise<boolean> {
  if (context.config.sessionKey === null) return true;
  const first = await new Promise<string | null>((resolve) => {
    const late = setTimeout(() => resolve(null), SOCKET_AUTH_MS);
    const settle = (frame: string | null): void => {
      clearTimeout(late);
      onFrame((next) => void waiting.push(next));
      resolve(frame);
    };
    const early = waiting.shift();
    if (early !== undefined) return settle(early);
    onFrame(settle);
    client.once('close', () => settle(null));
  });
  const parsed = authSchema.safeParse(jsonOrNull(first ?? ''));
  return parsed.success && isKey(parsed.data.session_api_key);
}

/** A message is appended and always run; anything else is answered with an error, and the socket stays open. */
function takeMessage(side: SocketSide, client: WebSocket, entry: Entry, frame: string): void {
  const { sockets } = side;
  const json = jsonOrNull(frame);
  // A client with a key sends it even where it was in the header already.
  if (authSchema.safeParse(json).success) return;
  const tell = (detail: string): void => {
    const event = sockets.transient({ code: 'InvalidMessage', detail, kind: 'ServerErrorEvent' });
    if (client.readyState === client.OPEN) client.send(JSON.stringify(event));
  };
  const parsed = messageSchema.safeParse(json);
  if (!parsed.success) return tell(`Cannot take message: ${parsed.error.issues[0]?.message ?? 'not valid'}`);
  try {
    sendMessage(entry, parsed.data, { messageId: null, run: true });
  } catch (error) {
    tell(`Cannot take message: ${side.context.vault.text(messageOf(error))}`);
  }
}

/** `partials=only`: what is not an event yet, and no event. */
function listeningOf(query: URLSearchParams): Listening {
  return query.get('partials') === 'only' ? { to: 'partials' } : { to: 'events', resend: resendOf(query) };
}

/** `resend_mode=all`, `resend_mode=since` with `after_timestamp`, or the older `resend_all=true`. */
function resendOf(query: URLSearchParams): Resend {
  const mode = query.get('resend_mode');
  if (mode === 'all' || query.get('resend_all') === 'true') return { kind: 'all' };
  const fromUs = mode === 'since' ? parseTimestampUs(query.get('after_timestamp') ?? '') : null;
  return fromUs === null ? { kind: 'none' } : { kind: 'since', fromUs };
}
