/**
 * Events pushed over a WebSocket, resumable from `after_seq`: one frame `{"seq", "event"}` each.
 * Owns the frames and their bound; what is sent and when is decided by the feed.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { WebSocketServer, type WebSocket } from 'ws';
import type { ConversationId } from '../../core/ids.ts';
import { asParleyError, ParleyError } from '../../core/parley-error.ts';
import type { Application, Principal } from '../application/application.ts';
import type { Gate } from '../application/gate.ts';
import { refuseUpgrade } from '../application/refuse-upgrade.ts';
import { closeFeed, follow, openFeed, sequenceFrom } from './event-feed.ts';
import { own } from './event-routes.ts';
import type { StreamSurroundings } from './event-stream.ts';

const PATH = /^\/api\/v1\/conversation\/([0-9a-fA-F-]{32,36})\/events\/stream$/;
/** Nothing is expected from the client. */
const INCOMING_BYTES_MAX = 1_024;
/** Frames waiting to be sent; a client that is slower waits, and resumes behind its last one if it is cut off. */
const WAITING_BYTES_MAX = 1_048_576;
/** With more before a client, what is not an event yet is left out. */
const PARTIALS_WAITING_BYTES_MAX = 65_536;
const GONE = 4_004;
const POLL_MS = 20;

export function eventSocket({ application, gate, partials }: StreamSurroundings) {
  const server = new WebSocketServer({ noServer: true, maxPayload: INCOMING_BYTES_MAX });
  return (request: IncomingMessage, socket: Duplex, head: Buffer): boolean => {
    // A client may send an invalid address.
    const url = URL.parse(request.url ?? '/', 'http://localhost');
    const id = PATH.exec(url?.pathname ?? '')?.[1];
    if (url === null || id === undefined) return false;
    admitted(application, gate, { request, url, id }).then(
      (feed) => {
        let isTaken = false;
        // It calls back at once, or not at all: then the handshake was invalid, and the client has the answer.
        server.handleUpgrade(request, socket, head, (client) => {
          isTaken = true;
          void feedTo({ application, partials }, client, feed);
        });
        if (!isTaken) closeFeed(feed.caller.userId);
      },
      (error: unknown) => refuseUpgrade(socket, asParleyError(error).status, 'Refused'),
    );
    return true;
  };
}

interface Feed {
  readonly caller: Principal;
  readonly conversationId: ConversationId;
  readonly afterSequence: number;
  readonly wantsPartials: boolean;
}

async function admitted(
  application: Application,
  gate: Gate,
  { request, url, id }: { readonly request: IncomingMessage; readonly url: URL; readonly id: string },
): Promise<Feed> {
  const asked = {
    headers: request.headers,
    query: Object.fromEntries(url.searchParams),
    params: {},
    raw: request,
    ip: request.socket.remoteAddress ?? '',
  } as unknown as FastifyRequest;
  const caller = (await gate.admit('key', asked)) as Principal;
  const conversationId = await own(application, caller, id);
  const afterSequence = sequenceFrom(url.searchParams.get('after_seq'));
  if (conversationId === null) throw new ParleyError('not_found', 'Conversation not found');
  if (afterSequence === null) throw new ParleyError('invalid_request', 'Cannot read "after_seq"');
  if (!openFeed(caller.userId)) throw new ParleyError('rate_limited', 'Cannot open another stream');
  const wantsPartials = url.searchParams.get('partials') === 'true';
  return { caller, conversationId, afterSequence, wantsPartials };
}

async function feedTo(
  { application, partials }: Pick<StreamSurroundings, 'application' | 'partials'>,
  client: WebSocket,
  feed: Feed,
): Promise<void> {
  const left = new AbortController();
  client.once('close', () => left.abort());
  client.on('error', () => client.terminate());
  const { caller, conversationId, afterSequence } = feed;
  if (feed.wantsPartials)
    partials.listen(
      conversationId,
      (text) => {
        if (client.readyState === client.OPEN && client.bufferedAmount <= PARTIALS_WAITING_BYTES_MAX)
          client.send(`{"partial":${text}}`);
      },
      left.signal,
    );
  try {
    const end = await follow(application, {
      conversationId,
      afterSequence,
      signal: left.signal,
      async tell({ sequence, body }) {
        while (client.bufferedAmount > WAITING_BYTES_MAX && !left.signal.aborted)
          await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        client.send(JSON.stringify({ seq: sequence, event: body }));
      },
    });
    if (end === 'deleted') client.close(GONE, 'Conversation deleted');
  } catch {
    client.close(1_011);
  } finally {
    closeFeed(caller.userId);
  }
}
