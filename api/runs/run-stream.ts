/**
 * A run pushed as server-sent events: the whole of it first, then each time what has changed.
 * Owns the frames; a client that reconnects gets all of it again, so nothing is missed. Ends when the run has finished.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { judgedScores } from '../../activities/score-file.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { Application, Principal } from '../application/application.ts';
import type { Gate } from '../application/gate.ts';
import { invalid } from '../application/validation.ts';
import { pushStream, type Push } from '../events/push-stream.ts';
import { findRun, runParams, itemsOfPlan } from './run-access.ts';
import { runItemRecord, runRecord } from './run-record.ts';

export const RUN_STREAM_URL = '/api/v1/runs/:run_id/stream';

/** A change is sent at most this late. */
const POLL_MS = 250;

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
  return await pushStream(request, reply, (push) => follow(application, runId, push));
}

async function follow(
  { world }: Application,
  runId: RunItemRow['runId'],
  { signal, write }: Push,
): Promise<void> {
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
      const facts = await itemsOfPlan(world, row);
      const records = await Promise.all(
        items.map(async (item) =>
          runItemRecord(item, {
            scores: await judgedScores(world, runId, item),
            facts: facts.get(item.key) ?? null,
          }),
        ),
      );
      const data = JSON.stringify({ run: runRecord(row), items: records });
      await write(`id: ${sequence}\nevent: run\ndata: ${data}\n\n`);
    }
    if (row.phase === 'finished') return await write('event: finished\ndata: {}\n\n');
    await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
