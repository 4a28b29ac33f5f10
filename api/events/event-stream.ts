/**
 * Events pushed as server-sent events, resumable from `after_seq`.
 * Owns the frames; what is told and when is the feed's.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import type { Application, Principal } from '../application/application.ts';
import type { Gate } from '../application/gate.ts';
import { invalid } from '../application/validation.ts';
import { uuidIn } from '../application/wire.ts';
import { closeFeed, follow, openFeed, sequenceFrom } from './event-feed.ts';
import { own } from './event-routes.ts';

/** Keeps proxies in between from closing what is silent. */
const BEAT_MS = 15_000;

export function registerEventStream(app: FastifyInstance, application: Application, gate: Gate): void {
  app.route({
    method: 'GET',
    url: '/api/v1/conversation/:conversation_id/events/stream',
    onRequest: async (request) => {
      request.caller = await gate.admit('key', request);
    },
    handler: (request, reply) => stream(application, request, reply),
  });
}

async function stream(
  application: Application,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { conversation_id: text } = request.params as { readonly conversation_id: string };
  const { after_seq: from } = request.query as { readonly after_seq?: string };
  const lastSeen = request.headers['last-event-id'];
  const afterSequence = sequenceFrom(from ?? (typeof lastSeen === 'string' ? lastSeen : null));
  if (afterSequence === null) throw invalid(['query', 'after_seq'], 'Input should be a number of 0 or more');
  if (!uuidIn.safeParse(text).success)
    throw invalid(['path', 'conversation_id'], 'Input should be a valid UUID');
  const caller = request.caller as Principal;
  const conversationId = await own(application, caller, text);
  if (conversationId === null) throw new ParleyError('not_found', 'Conversation not found');
  if (!openFeed(caller.userId))
    throw new ParleyError('rate_limited', 'Cannot open another stream: too many are open');
  const { raw } = reply.hijack();
  const left = new AbortController();
  raw.once('close', () => left.abort());
  const beat = setInterval(() => raw.write(':\n\n'), BEAT_MS);
  try {
    raw.writeHead(200, {
      ...reply.getHeaders(),
      'content-type': 'text/event-stream; charset=utf-8',
    } as never);
    raw.write(':\n\n');
    const tell = (event: StoredEvent): Promise<void> => write(raw, frameOf(event), left.signal);
    const end = await follow(application, { conversationId, afterSequence, signal: left.signal, tell });
    raw.end(end === 'deleted' ? 'event: deleted\ndata: {}\n\n' : undefined);
  } finally {
    clearInterval(beat);
    closeFeed(caller.userId);
    raw.end();
  }
  return reply;
}

function frameOf({ sequence, body }: StoredEvent): string {
  return `id: ${sequence}\nevent: event\ndata: ${JSON.stringify(body)}\n\n`;
}

/** A client that is slower than the log is waited for. */
async function write(raw: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (raw.write(text) || signal.aborted) return;
  await once(raw, 'drain', { signal }).catch(() => undefined);
}
