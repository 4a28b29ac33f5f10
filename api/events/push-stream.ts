/**
 * Server-sent events to one client: the place among its user's streams, the head, the beats, the end.
 * Owns that a place is given back however the client leaves, also before the first byte; what is sent is the caller's.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';
import type { Principal } from '../application/application.ts';
import { leftSignal } from '../left-signal.ts';
import { closeFeed, openFeed } from './event-feed.ts';

/** Keeps proxies in between from closing what is silent. */
const BEAT_MS = 15_000;

export interface Push {
  /** Fires when the client has left. */
  readonly signal: AbortSignal;
  /** Resolves when the client can take more: it waits for a client that is slower than the events. */
  write(text: string): Promise<void>;
  /** Writes what may be missed: nothing, when the client has not taken what was written before. */
  offer(text: string): void;
}

/** Ends with `tell`. A `HEAD` gets no events. @throws ParleyError rate_limited */
export async function pushStream(
  request: FastifyRequest,
  reply: FastifyReply,
  tell: (push: Push) => Promise<void>,
): Promise<FastifyReply> {
  const { userId } = request.caller as Principal;
  if (!openFeed(userId))
    throw new ParleyError('rate_limited', 'Cannot open another stream: too many are open');
  const { raw } = reply.hijack();
  const signal = leftSignal(raw);
  const beat = setInterval(() => raw.write(':\n\n'), BEAT_MS);
  try {
    raw.writeHead(200, {
      ...reply.getHeaders(),
      'content-type': 'text/event-stream; charset=utf-8',
    } as never);
    raw.write(':\n\n');
    if (request.method !== 'HEAD')
      await tell({
        signal,
        write: (text) => write(raw, text, signal),
        offer: (text) => void (raw.writableEnded || raw.writableNeedDrain || raw.write(text)),
      });
  } finally {
    clearInterval(beat);
    closeFeed(userId);
    raw.end();
  }
  return reply;
}

async function write(raw: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (signal.aborted || raw.write(text)) return;
  await once(raw, 'drain', { signal }).catch(() => undefined);
}
