/**
 * Taking a run that somebody submits: what it may do here, its id, its secrets, and its start.
 * Owns that a user's plan reaches nothing of this machine: every secret of it comes with it, sealed at rest, and no value
 * is in the plan (D20). Only an administrator's plan may name what this machine has.
 */
import { createHash } from 'node:crypto';
import { sealRunSecrets } from '../../activities/run-secrets.ts';
import { runId as asRunId, type RunId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import { hostPin } from '../../core/placement/choose-host.ts';
import { runSpec, runSetting } from '../../core/run/run-spec.ts';
import type { Application, Principal } from '../application/application.ts';
import { requireHosts } from '../application/host-pin.ts';
import { isTheirs } from './run-access.ts';

export interface Submission {
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
export async function submitRun(
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

/** The key itself where it can be the id of a run, so that whoever chose it knows the run by it. */
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
