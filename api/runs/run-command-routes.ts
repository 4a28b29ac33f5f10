/**
 * Runs over the API besides reading them: submitting one, steering it, and fetching its plan and results.
 * Owns the routes and what a submission may do; a run decides for itself what it makes of a request.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { sealRunSecrets } from '../../activities/run-secrets.ts';
import { runId, runId as asRunId, type RunId } from '../../core/ids.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { hostPin } from '../../core/placement/choose-host.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import { runSpec, runSetting } from '../../core/run/run-spec.ts';
import type { Application, Principal } from '../application/application.ts';
import { requireHosts } from '../application/host-pin.ts';
import { controlRequestSchema } from '../control-server.ts';
import { claim, claimedKey } from '../application/idempotency-key.ts';
import { route } from '../application/route.ts';
import { findRun, isTheirs, OF_RUN } from './run-access.ts';
import { runSchema, runRecord } from './run-record.ts';
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
    ...OF_RUN,
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
    ...OF_RUN,
    result: z.looseObject({ format: z.literal(1), name: z.string(), hash: z.string() }),
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
    ...OF_RUN,
    result: z.array(z.string()),
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
    ...OF_RUN,
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

interface Submission {
  readonly plan: Plan;
  readonly secrets: Readonly<Record<string, string>>;
  /** Takes the caller's idempotency key for this submission; null when there is none. */
  takeKey(): Promise<string | null>;
}

const RUN_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const NAME_LENGTH_MAX = 42;
const DIGITS = 16;
/** A run is in the rows once its engine has taken it up: on Temporal a moment after it was accepted. */
const SEEN_MS_MAX = 10_000;
const POLL_MS = 25;

/**
 * Repeated under the same key it is the same run, and begins once.
 * @throws ParleyError plan_invalid, secret_unknown, secret_reserved, placement_failed, idempotency_conflict
 */
async function submitRun(
  application: Application,
  caller: Principal,
  submission: Submission,
): Promise<RunRow> {
  const { world, requests } = application;
  const { plan, secrets } = submission;
  requireOwnHash(application, plan);
  requireSecrets(caller, submission);
  requireHosts(world.deployment, hostPin(plan.placement));
  const id = idOf(application, caller, { plan, key: await submission.takeKey() });
  const before = await world.records.run(id);
  if (before !== null) return repeated(caller, before, plan);
  // Of two at once under one id the plan that is stored first counts.
  await world.plans.putPlan(id, plan).catch((error: unknown) => {
    throw error instanceof ParleyError && error.code === 'run_exists' ? inUse() : error;
  });
  await sealRunSecrets(world.vault, id, secrets);
  const spec = runSpec(plan, {
    runId: id,
    userId: caller.userId,
    setting: runSetting(world.deployment),
  });
  await requests.deliver({ to: { machine: 'run', id }, event: { type: 'runStarted', spec } });
  return await seen(application, id);
}

function requireOwnHash({ planHash }: Application, plan: Plan): void {
  if (plan.hash === planHash(plan)) return;
  throw new ParleyError('plan_invalid', 'Cannot use the plan: its hash does not match, so it was changed');
}

function requireSecrets({ scope }: Principal, { plan, secrets }: Submission): void {
  const unknown = Object.keys(secrets).find((name) => !Object.hasOwn(plan.secrets, name));
  if (unknown !== undefined)
    throw new ParleyError(
      'secret_unknown',
      `Cannot take the secret "${unknown}": the plan has none of this name`,
    );
  if (scope === 'admin') return;
  const missing = Object.keys(plan.secrets).filter((name) => !Object.hasOwn(secrets, name));
  if (missing.length === 0) return;
  throw new ParleyError(
    'secret_unknown',
    `Cannot start the run: no value came with it for ${missing.map((name) => `"${name}"`).join(', ')}`,
    { remedy: "send them with the plan; only an administrator's plan may name secrets of the server" },
  );
}

/** The key itself where it can be the id of a run, so that the client that chose it knows the run's id. */
function idOf(
  application: Application,
  { userId }: Principal,
  { plan, key }: { readonly plan: Plan; readonly key: string | null },
): RunId {
  if (key === null) {
    const name = plan.name.slice(0, NAME_LENGTH_MAX).replace(/-+$/, '');
    return asRunId(`${name}-${application.randomHex(DIGITS)}`);
  }
  if (RUN_ID.test(key)) return asRunId(key);
  const mark = createHash('sha256')
    .update(`${userId}\n${key}`)
    .digest('hex')
    .slice(0, 2 * DIGITS);
  return asRunId(`run-${mark}`);
}

function repeated(caller: Principal, row: RunRow, plan: Plan): RunRow {
  const isSame = isTheirs(caller, row) && row.planHash === plan.hash;
  if (isSame) return row;
  throw inUse();
}

function inUse(): ParleyError {
  return new ParleyError(
    'idempotency_conflict',
    'Cannot start the run: its idempotency key was used for another one',
  );
}

async function seen({ world }: Application, id: RunId): Promise<RunRow> {
  const until = world.clock.now() + SEEN_MS_MAX;
  for (;;) {
    const row = await world.records.run(id);
    if (row !== null) return row;
    if (world.clock.now() > until)
      throw new ParleyError('store_unavailable', 'Cannot see the run: the engine has not taken it up yet');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
