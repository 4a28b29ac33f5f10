/**
 * Reading runs: search, one, what happened to it as a whole; its items are in item-routes.ts.
 * Owns the routes; none of them changes a run. Whose runs are seen is in run-access.ts.
 */
import { z } from 'zod';
import type { RunRow } from '../../core/machine/projection.ts';
import { troubleOfRun } from '../../core/current-trouble.ts';
import { type Application, whoseRecords } from '../application/application.ts';
import { answerPage, pageRequest } from '../application/cursor.ts';
import { route } from '../application/route.ts';
import { instantOut, isoInstant, limitIn, pageIdIn, pageOf } from '../application/wire.ts';
import { currentTroubles, findRun, OF_RUN } from './run-access.ts';
import { runRecord, runSchema } from './run-record.ts';

const pageQuery = z.object({
  page_id: pageIdIn,
  limit: limitIn,
  name: z.string().max(64).optional().meta({ description: 'The name of the job.' }),
  state: z.enum(['open', 'finished']).optional(),
});

const runEventSchema = z
  .object({ at: instantOut, code: z.string(), detail: z.string() })
  .meta({ id: 'RunEvent' });

export const RUN_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/runs/search',
    operation: 'search_runs',
    summary: 'Runs, newest first.',
    access: 'key',
    query: pageQuery,
    result: pageOf(runSchema),
    leadsTo: { run_id: '$response.body#/items/0/id' },
    handler: async ({ application, caller, query }) => {
      const page = { ...pageRequest(query), descending: true };
      const { name, state } = query;
      const found = await application.search.runs(page, whoseRecords(caller), {
        ...(name === undefined ? {} : { name }),
        ...(state === undefined ? {} : { state }),
      });
      return await answerPage(found, query.limit, {
        cursor: ({ createdAt, runId: id }) => ({ value: createdAt, id }),
        records: (rows) => Promise.resolve(rows.map(runRecord)),
      });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id',
    operation: 'get_run',
    summary: 'One run: how far it is, and what it has spent.',
    ...OF_RUN,
    result: runSchema,
    handler: async ({ application, caller, params: { run_id: id } }) =>
      runRecord(await withTrouble(application, await findRun(application, caller, id))),
  }),
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/events',
    operation: 'list_run_events',
    summary: 'What happened to a run as a whole, in the order in which it was recorded.',
    ...OF_RUN,
    result: z.array(runEventSchema),
    handler: async ({ application, caller, params: { run_id: id } }) => {
      const run = await findRun(application, caller, id);
      const events = await application.runLog.runEvents(run.runId);
      return events.map(({ at, code, detail }) => ({ at: isoInstant(at), code, detail }));
    },
  }),
] as const;

async function withTrouble(application: Application, row: RunRow): Promise<RunRow> {
  const open = row.phase === 'finished' ? [] : await currentTroubles(application);
  if (open.length === 0) return row;
  const items = await application.world.records.runItems(row.runId);
  return { ...row, trouble: troubleOfRun(open, row, items) };
}
