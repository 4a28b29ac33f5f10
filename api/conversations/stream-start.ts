/**
 * A start task told as it moves: one JSON array that grows until READY or ERROR.
 * Owns the stream; a client that goes away ends nothing but the stream.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StartTaskRecord } from './start-task-record.ts';

/**
 * Milliseconds between two looks: for the first of them a start that has a sandbox at hand is over, later ones and
 * those of a start that waits for a slot are rarer.
 * A status that lasted less is skipped, as the record skips one that lasted no time.
 */
const POLL_MS = { first: 10, later: 100, waiting: 1_000 };
const FIRST_MS = 2_000;

function lookMs(sinceMs: number): number {
  return sinceMs < FIRST_MS ? POLL_MS.first : POLL_MS.later;
}

export async function streamStart(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  look: () => Promise<StartTaskRecord>,
): Promise<void> {
  const stream = new PassThrough();
  // Not awaited: it ends with the stream.
  void reply.type('application/json; charset=utf-8').send(stream);
  let shown = '';
  const began = performance.now();
  stream.write('[\n');
  for (let record = await look(); ; record = await look()) {
    const { status, queue_position: position } = record;
    const news = `${status} ${position}`;
    if (news !== shown) stream.write(`${shown === '' ? '' : ',\n'}${JSON.stringify(record)}`);
    shown = news;
    if (status === 'READY' || status === 'ERROR' || request.raw.socket.destroyed) break;
    await pause(position === null ? lookMs(performance.now() - began) : POLL_MS.waiting);
  }
  stream.end('\n]');
}
