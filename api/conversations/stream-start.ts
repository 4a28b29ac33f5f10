/**
 * A start task told as it moves: one JSON array that grows until READY or ERROR.
 * Owns the stream; a client that goes away ends nothing but the stream.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StartTaskRecord } from './start-task-record.ts';

/** A status that lasted less is skipped, as the record skips one that lasted no time. */
const LOOK_MS = 100;

export async function streamStart(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  look: () => Promise<StartTaskRecord>,
): Promise<void> {
  const stream = new PassThrough();
  // Not awaited: it ends with the stream.
  void reply.type('application/json; charset=utf-8').send(stream);
  let shown = '';
  stream.write('[\n');
  for (let record = await look(); ; record = await look()) {
    if (record.status !== shown) stream.write(`${shown === '' ? '' : ',\n'}${JSON.stringify(record)}`);
    shown = record.status;
    if (shown === 'READY' || shown === 'ERROR' || request.raw.socket.destroyed) break;
    await pause(LOOK_MS);
  }
  stream.end('\n]');
}
