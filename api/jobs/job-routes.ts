/**
 * Jobs: what a text compiles to and would cost, the results of the runs of one job, and two runs compared.
 * Owns the routes; nothing is run by them.
 */
import { z } from 'zod';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { COMPARED, compareRuns } from '../../core/run/history/compare-runs.ts';
import { jobHistory } from '../../core/run/history/job-history.ts';
import { type Application, type Principal, whoseRecords } from '../application/application.ts';
import { route } from '../application/route.ts';
import { findRun, OF_RUN, runParams } from '../runs/run-access.ts';
import { nanoUsd, runRecord, runSchema } from '../runs/run-record.ts';
import { jobTextFields } from './job-compiler.ts';

const RUNS_MAX = 50;
const RUNS_DEFAULT = 20;
/** Rows of a history or comparison that are answered: no user reads more, and the counts are of all. */
const ROWS_MAX = 500;

const jobParams = z.object({
  job_name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'Input should be the name of a job'),
});

const findingSchema = z
  .object({
    code: z.string(),
    severity: z.enum(['error', 'warning']),
    message: z.string(),
    remedy: z.string().nullable(),
    line: z.int().meta({ description: 'From 1, as are columns, which count Unicode code points.' }),
    column: z.int(),
    end_line: z.int(),
    end_column: z.int().meta({ description: 'Exclusive.' }),
  })
  .meta({ id: 'JobFinding' });

const outlookSchema = z
  .object({
    cost_max_nano_usd: nanoUsd.nullable().meta({ description: 'Null when a conversation has no limit.' }),
    cost_p50_nano_usd: nanoUsd
      .nullable()
      .meta({ description: 'From the last run of the job; null without one.' }),
    cost_p90_nano_usd: nanoUsd.nullable(),
    time_p50_ms: z.int().nullable(),
    time_p90_ms: z.int().nullable(),
    peak: z.int().meta({ description: 'Conversations at once.' }),
    sandboxes_peak: z.int().nullable(),
    models: z.record(z.string(), z.int()),
    budget_nano_usd: nanoUsd.nullable(),
    limits: z.array(z.string()).meta({ description: 'A sentence for each limit that the run will meet.' }),
  })
  .meta({ id: 'JobOutlook' });

const compiledSchema = z
  .object({
    findings: z.array(findingSchema),
    open_inputs: z.array(z.string()).meta({ description: 'Inputs that need a value.' }),
    plan: z
      .looseObject({ format: z.literal(1), name: z.string(), hash: z.string() })
      .nullable()
      .meta({ description: 'For `POST /api/v1/runs`; null with errors or open inputs.' }),
    outlook: outlookSchema.nullable(),
  })
  .meta({ id: 'CompiledJob' });

const historySchema = z
  .object({
    runs: z.array(
      z.object({
        run: runSchema,
        duration_ms: z.int(),
        success_share: z.number().nullable().meta({ description: 'Of the items that have ended; 0 to 1.' }),
      }),
    ),
    keys: z.array(
      z.object({
        key: z.string(),
        outcomes: z.array(z.object({ run_id: z.string(), outcome: z.string().nullable() })),
        ended: z.int(),
        succeeded: z.int(),
        is_flaky: z.boolean().meta({ description: 'It did and did not succeed in runs of one plan.' }),
        mean_nano_usd: nanoUsd.nullable(),
        mean_ms: z.int().nullable(),
      }),
    ),
    keys_total: z.int(),
    keys_flaky: z.int(),
  })
  .meta({ id: 'JobHistory' });

const sideSchema = z
  .object({
    outcome: z.string().nullable(),
    cost_nano_usd: nanoUsd.nullable(),
    duration_ms: z.int().nullable(),
    conversation_id: z.string().nullable(),
  })
  .nullable();

const comparisonSchema = z
  .object({
    before: runSchema,
    after: runSchema,
    counts: z.record(z.enum(COMPARED), z.int()),
    items: z
      .array(z.object({ key: z.string(), verdict: z.enum(COMPARED), before: sideSchema, after: sideSchema }))
      .meta({ description: `What is worse first; at most ${ROWS_MAX}.` }),
  })
  .meta({ id: 'RunComparison' });

export const JOB_ROUTES = [
  route({
    method: 'POST',
    url: '/api/v1/jobs/compile',
    operation: 'compile_job',
    summary: 'What the text of a job file compiles to, and what its run would cost and take; nothing is run.',
    access: 'key',
    body: z.strictObject(jobTextFields),
    result: compiledSchema,
    handler: async ({ application, caller, body }) => {
      const { plan, findings, openInputs } = application.jobs.compile(body.text, body.inputs);
      return {
        findings: findings.map(({ endLine, endColumn, code, severity, message, remedy, line, column }) => ({
          ...{ code, severity, message, remedy, line, column },
          ...{ end_line: endLine, end_column: endColumn },
        })),
        open_inputs: [...openInputs],
        plan: plan as (Plan & Record<string, unknown>) | null,
        outlook: plan === null ? null : await outlookOf(application, caller, plan),
      };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/jobs/:job_name/history',
    operation: 'get_job_history',
    summary: 'The last runs of a job, and what each of its items came to in them.',
    access: 'key',
    params: jobParams,
    query: z.object({
      limit: z.coerce.number<number | string | undefined>().int().min(1).max(RUNS_MAX).default(RUNS_DEFAULT),
    }),
    result: historySchema,
    handler: async ({ application, caller, params: { job_name: name }, query: { limit } }) => {
      const { world } = application;
      const runs = await lastRuns(application, caller, { name, limit });
      const items = await Promise.all(runs.map(({ runId }) => world.records.runItems(runId)));
      const history = jobHistory(
        runs.map((run, at) => ({ run, items: items[at] ?? [] })),
        world.clock.now(),
      );
      return {
        runs: history.runs.map(({ run, durationMs, successShare }) => ({
          ...{ run: runRecord(run), duration_ms: durationMs, success_share: successShare },
        })),
        keys: history.keys.slice(0, ROWS_MAX).map((one) => ({
          key: one.key,
          outcomes: one.outcomes.map(({ runId, outcome }) => ({ run_id: runId, outcome })),
          ...{ ended: one.ended, succeeded: one.succeeded, is_flaky: one.isFlaky },
          ...{ mean_nano_usd: one.meanNanoUsd, mean_ms: one.meanMs },
        })),
        keys_total: history.keys.length,
        keys_flaky: history.keys.filter(({ isFlaky }) => isFlaky).length,
      };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/comparison',
    operation: 'compare_run',
    summary: 'A run beside an earlier one: which items are worse, better, added or gone.',
    ...OF_RUN,
    query: z.object({ before: runParams.shape.run_id.meta({ description: 'Id of the other run.' }) }),
    result: comparisonSchema,
    handler: async ({ application, caller, params: { run_id: id }, query }) => {
      const { records } = application.world;
      const [before, after] = await Promise.all([
        findRun(application, caller, query.before),
        findRun(application, caller, id),
      ]);
      const [old, present] = await Promise.all([
        records.runItems(before.runId),
        records.runItems(after.runId),
      ]);
      const items = compareRuns(old, present);
      const count = (verdict: (typeof COMPARED)[number]): number =>
        items.filter((item) => item.verdict === verdict).length;
      return {
        before: runRecord(before),
        after: runRecord(after),
        counts: Object.fromEntries(COMPARED.map((word) => [word, count(word)])) as Record<
          (typeof COMPARED)[number],
          number
        >,
        items: items.slice(0, ROWS_MAX).map((item) => ({
          ...{ key: item.key, verdict: item.verdict },
          ...{ before: sideOf(item.before), after: sideOf(item.after) },
        })),
      };
    },
  }),
] as const;

function lastRuns(
  { search }: Application,
  caller: Principal,
  { name, limit }: { readonly name: string; readonly limit: number },
): Promise<readonly RunRow[]> {
  return search.runs({ after: null, limit, descending: true }, whoseRecords(caller), { name });
}

async function outlookOf(
  application: Application,
  caller: Principal,
  plan: Plan,
): Promise<z.output<typeof outlookSchema>> {
  const [last] = await lastRuns(application, caller, { name: plan.name, limit: 1 });
  const history = last === undefined ? [] : await application.world.records.runItems(last.runId);
  const outlook = application.jobs.outlook(plan, history);
  return {
    cost_max_nano_usd: outlook.costMaxNanoUsd,
    cost_p50_nano_usd: outlook.costP50NanoUsd,
    cost_p90_nano_usd: outlook.costP90NanoUsd,
    time_p50_ms: outlook.timeP50Ms,
    time_p90_ms: outlook.timeP90Ms,
    peak: outlook.peak,
    sandboxes_peak: outlook.sandboxesPeak,
    models: { ...outlook.models },
    budget_nano_usd: outlook.budgetNanoUsd,
    limits: [...outlook.limits],
  };
}

function sideOf(row: RunItemRow | null): z.output<typeof sideSchema> {
  if (row === null) return null;
  const { outcome, costNanoUsd, admittedAt, endedAt, conversationId } = row;
  return {
    outcome,
    cost_nano_usd: costNanoUsd,
    duration_ms: admittedAt === null || endedAt === null ? null : endedAt - admittedAt,
    conversation_id: conversationId,
  };
}
