/**
 * A start task told as it moves: one JSON array that grows until READY or ERROR.
 * Owns the stream; a client that goes away ends nothing but the stream.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StartTaskRecord } from './start-task-record.ts';

/**
 * Milliseconds between two looks, for the first of which a start that has a sandbox at hand is over, and later.
 * A status that lasted less is skipped, as the record skips one that lasted no time.
 */
const LOOK_MS = { first: 10, later: 100 };
const FIRST_MS = 2_000;

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
    if (record.status !== shown) stream.write(`${shown === '' ? '' : ',\n'}${JSON.stringify(record)}`);
    shown = record.status;
    if (shown === 'READY' || shown === 'ERROR' || request.raw.socket.destroyed) break;
    await pause(performance.now() - began < FIRST_MS ? LOOK_MS.first : LOOK_MS.later);
  }
  stream.end('\n]');
}
