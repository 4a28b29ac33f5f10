/**
 * Runs over the API besides reading them: submitting one, steering it, and fetching its plan and results.
 * Owns the routes; what a submission may do is in submit-run.ts, and a run decides for itself what it makes of a request.
 */
import { z } from 'zod';
import { runId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import { controlRequestSchema } from '../control-server.ts';
import { claim, claimedKey } from '../application/idempotency-key.ts';
import { route } from '../application/route.ts';
import { findRun } from './run-access.ts';
import { runSchema, runRecord } from './run-record.ts';
import { runParams } from './run-params.ts';
import { submitRun } from './submit-run.ts';
import { submittedPlanSchema } from './submitted-plan.ts';

/** As a start request of a conversation has them (D20). */
const SECRETS_MAX = 50;
const SECRET_BYTES_MAX = 65_536;
/** Files of one run that are listed; a run of 10,000 conversations has that many, and some. */
const FILES_MAX = 200_000;

const secretsSchema = z
  .record(z.string(), z.string().max(SECRET_BYTES_MAX))
  .refine(
    (secrets) => Object.keys(secrets).length <= SECRETS_MAX,
    `Input should have at most ${SECRETS_MAX} secrets`,
  )
  .meta({ description: "Values by the plan's names for them; sealed at rest." });

const submissionSchema = z.strictObject({ plan: submittedPlanSchema, secrets: secretsSchema.default({}) });

const fileQuery = z.object({ name: z.string().min(1).max(4_096) });

export const RUN_COMMAND_ROUTES = [
  route({
    method: 'POST',
    url: '/api/v1/runs',
    operation: 'submit_run',
    summary: 'Starts a run of a compiled plan; the same Idempotency-Key and plan is the same run.',
    access: 'key',
    takesKey: true,
    body: submissionSchema,
    result: runSchema,
    status: 201,
    errors: ['plan_invalid', 'secret_unknown', 'store_unavailable'],
    leadsTo: { run_id: '$response.body#/id' },
    handler: async (call) => {
      const { application, caller, body } = call;
      const submission = { plan: body.plan as unknown as Plan, secrets: body.secrets };
      const takeKey = (): Promise<string | null> => claimedKey(call, 'runs');
      return runRecord(await submitRun(application, caller, { ...submission, takeKey }));
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/runs/:run_id/control',
    operation: 'control_run',
    summary:
      'Pauses, drains, resumes, changes, requeues or cancels a run; a repeated requestId changes nothing.',
    access: 'key',
    params: runParams,
    body: controlRequestSchema.shape.event,
    result: z.object({ accepted: z.literal(true) }),
    errors: ['not_found', 'idempotency_conflict'],
    handler: async (call) => {
      const { application, caller, body } = call;
      const run = await findRun(application, caller, call.params.run_id);
      await claim(call, { target: `run/${run.runId}`, key: body.requestId });
      const by = body.by ?? caller.keyName ?? caller.userId;
      await application.requests.deliver({
        to: { machine: 'run', id: run.runId },
        event: { ...body, by: by.slice(0, 200) },
      });
      return { accepted: true as const };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/plan',
    operation: 'get_run_plan',
    summary: 'The plan of a run, as it was amended last.',
    access: 'key',
    params: runParams,
    result: z.looseObject({ format: z.literal(1), name: z.string(), hash: z.string() }),
    errors: ['not_found'],
    handler: async ({ application: { world }, application, caller, params: { run_id: id } }) => {
      const run = await findRun(application, caller, id);
      const begun = await world.plans.plan(run.runId);
      const isAmended = begun !== null && begun.hash !== run.planHash;
      const plan = isAmended ? await world.plans.plan(amendedPlanId(run.runId, run.planHash)) : begun;
      if (plan === null) throw new ParleyError('not_found', 'Plan not found');
      return plan as Plan & Record<string, unknown>;
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/results',
    operation: 'list_run_results',
    summary: 'The files of the results of a run, by their paths below its folder.',
    access: 'key',
    params: runParams,
    result: z.array(z.string()),
    errors: ['not_found'],
    handler: async ({ application, caller, params: { run_id: id } }) => {
      const run = await findRun(application, caller, id);
      return [...(await application.world.results.names(run.runId, FILES_MAX))];
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/results/file',
    operation: 'get_run_result',
    summary: 'One file of the results of a run.',
    access: 'key',
    params: runParams,
    query: fileQuery,
    result: 'application/octet-stream',
    errors: ['not_found', 'invalid_request'],
    handler: async ({ application, caller, params: { run_id: id }, query, reply }) => {
      await findRun(application, caller, id);
      const content = await application.world.results.read({ runId: runId(id), key: null, name: query.name });
      if (content === null) throw new ParleyError('not_found', 'Result not found');
      await reply
        .type('application/octet-stream')
        .header('content-disposition', 'attachment')
        .send(Buffer.from(content));
      return null;
    },
  }),
] as const;
