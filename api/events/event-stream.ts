/**
 * Events pushed as server-sent events, resumable from `after_seq`.
 * Owns the frames; what is sent and when is decided by the feed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import type { Application, Principal } from '../application/application.ts';
import type { Gate } from '../application/gate.ts';
import { invalid } from '../application/validation.ts';
import { uuidIn } from '../application/wire.ts';
import { follow, sequenceFrom } from './event-feed.ts';
import { own } from './event-routes.ts';
import type { PartialFeeds } from './partial-feed.ts';
import { pushStream } from './push-stream.ts';

export interface StreamSurroundings {
  readonly application: Application;
  readonly gate: Gate;
  readonly partials: PartialFeeds;
}

export function registerEventStream(app: FastifyInstance, around: StreamSurroundings): void {
  app.route({
    method: 'GET',
    url: '/api/v1/conversation/:conversation_id/events/stream',
    onRequest: async (request) => {
      request.caller = await around.gate.admit('key', request);
    },
    handler: (request, reply) => stream(around, request, reply),
  });
}

async function stream(
  { application, partials }: StreamSurroundings,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { conversation_id: text } = request.params as { readonly conversation_id: string };
  const query = request.query as { readonly after_seq?: string; readonly partials?: string };
  const { after_seq: from } = query;
  const lastSeen = request.headers['last-event-id'];
  const afterSequence = sequenceFrom(from ?? (typeof lastSeen === 'string' ? lastSeen : null));
  if (afterSequence === null) throw invalid(['query', 'after_seq'], 'Input should be a number of 0 or more');
  if (!uuidIn.safeParse(text).success)
    throw invalid(['path', 'conversation_id'], 'Input should be a valid UUID');
  const caller = request.caller as Principal;
  const conversationId = await own(application, caller, text);
  if (conversationId === null) throw new ParleyError('not_found', 'Conversation not found');
  return await pushStream(request, reply, async ({ signal, write, offer }) => {
    // Only on request: a frame that is no event has no number to resume behind.
    if (query.partials === 'true')
      partials.listen(conversationId, (text) => offer(`event: partial\ndata: ${text}\n\n`), signal);
    const tell = (event: StoredEvent): Promise<void> => write(frameOf(event));
    const end = await follow(application, { conversationId, afterSequence, signal, tell });
    if (end === 'deleted') await write('event: deleted\ndata: {}\n\n');
  });
}

function frameOf({ sequence, body }: StoredEvent): string {
  return `id: ${sequence}\nevent: event\ndata: ${JSON.stringify(body)}\n\n`;
}
