/**
 * A run pushed as server-sent events: the whole of it first, then each time what has changed.
 * Owns the frames; whoever comes back gets the whole of it again, so nothing is missed. Ends when the run has finished.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';
import type { RunItemRow } from '../../core/projection.ts';
import type { Application, Principal } from '../application/application.ts';
import type { Gate } from '../application/gate.ts';
import { invalid } from '../application/validation.ts';
import { closeFeed, openFeed } from '../events/event-feed.ts';
import { findRun } from './run-access.ts';
import { runParams } from './run-params.ts';
import { runItemRecord, runRecord } from './run-record.ts';

export const RUN_STREAM_URL = '/api/v1/runs/:run_id/stream';

/** A change is told at most this late. */
const LOOK_MS = 250;
/** Keeps proxies in between from closing what is silent. */
const BEAT_MS = 15_000;

export function registerRunStream(app: FastifyInstance, application: Application, gate: Gate): void {
  app.route({
    method: 'GET',
    url: RUN_STREAM_URL,
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
  const params = runParams.safeParse(request.params);
  if (!params.success) throw invalid(['path', 'run_id'], 'Input should be the id of a run');
  const caller = request.caller as Principal;
  const { runId } = await findRun(application, caller, params.data.run_id);
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
    await follow(application, { runId, raw, signal: left.signal });
  } finally {
    clearInterval(beat);
    closeFeed(caller.userId);
    raw.end();
  }
  return reply;
}

interface Follow {
  readonly runId: RunItemRow['runId'];
  readonly raw: ServerResponse;
  readonly signal: AbortSignal;
}

async function follow({ world }: Application, { runId, raw, signal }: Follow): Promise<void> {
  const told = new Map<string, number>();
  for (let sequence = -1; !signal.aborted;) {
    const row = await world.records.run(runId);
    if (row === null) return;
    if (row.sequence !== sequence) {
      ({ sequence } = row);
      const items = (await world.records.runItems(runId)).filter(
        (item) => told.get(item.key) !== item.sequence,
      );
      for (const item of items) told.set(item.key, item.sequence);
      const data = JSON.stringify({ run: runRecord(row), items: items.map(runItemRecord) });
      await write(raw, `id: ${sequence}\nevent: run\ndata: ${data}\n\n`, signal);
    }
    if (row.phase === 'finished') return void raw.write('event: finished\ndata: {}\n\n');
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A client that is slower than the run is waited for. */
async function write(raw: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (raw.write(text) || signal.aborted) return;
  await once(raw, 'drain', { signal }).catch(() => undefined);
}
