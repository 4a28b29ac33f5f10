/**
 * notifyOfRun: notifies one receiver that a run has ended, and how.
 * Owns the message and when it is wanted; the order of the steps, and their time, are the machine's.
 */
import type { CommandOf } from '../core/machine/command.ts';
import type { LastStep } from '../core/run/items/item-evidence.ts';
import { fillWords } from '../core/text/fill-words.ts';
import { formatUsd, nanoUsd } from '../core/money/money.ts';
import { asParleyError, ParleyError } from '../core/parley-error.ts';
import type { Plan, PlanNotify } from '../core/plan/plan.ts';
import { unsuccessfulOf, type RunRow } from '../core/machine/projection.ts';
import type { Handler, ActivityContext } from './activity.ts';
import { planOf } from './plan-item.ts';
import { keepLastStep } from './report/last-steps.ts';
import { reportNow } from './report-run.ts';
import { secretOfRun } from './run-secrets.ts';
import type { World } from './world.ts';

type Notify = CommandOf<'notifyOfRun'>;

/** Tried until its machine cancels the command: the job says for how long. */
export const notifyOfRun = (world: World): Handler<'notifyOfRun'> => ({
  run: (command, context) => notify(world, command, context),
  failed: (command, error) => ({
    type: 'notifyFailed',
    commandId: command.id,
    reason: `${error.code}: ${error.message}`,
  }),
});

async function notify(world: World, command: Notify, context: ActivityContext) {
  const plan = await planOf(world, command.runId);
  const step = plan.finally?.[command.step];
  const run = await world.records.run(command.runId);
  if (step === undefined || run === null)
    throw new ParleyError('plan_invalid', `Cannot notify of run "${command.runId}": it has no such step`);
  const isSent = isWanted(step, runStatus(run, plan));
  try {
    if (isSent) await send(world, command, { plan, step, run, context });
  } catch (error) {
    const { code, message } = asParleyError(error);
    await keep(world, command, plan, { state: 'failed', problem: { code, message } });
    throw error;
  }
  await keep(world, command, plan, { state: isSent ? 'sent' : 'not_wanted', problem: null });
  return { type: 'runNotified', commandId: command.id, isSent } as const;
}

/** The reports were written before: they are written again when the last step is over, to include it. */
async function keep(
  world: World,
  { runId, step, id }: Notify,
  plan: Plan,
  how: Pick<LastStep, 'state' | 'problem'>,
): Promise<void> {
  await keepLastStep(world, runId, { step, id, at: world.clock.now(), ...how });
  if (step + 1 === plan.finally?.length) await reportNow(world, runId);
}

export type RunStatus = 'succeeded' | 'failed' | 'cancelled';

/** As the exit code of `parley run` says it: tolerated failures do not count. */
export function runStatus(run: RunRow, { tolerate }: Pick<Plan, 'tolerate'>): RunStatus {
  if (run.mode === 'cancelling') return 'cancelled';
  return unsuccessfulOf(run) > tolerate.failed ? 'failed' : 'succeeded';
}

function isWanted({ when }: PlanNotify, status: RunStatus): boolean {
  return when === 'always' || (when === 'succeeded') === (status === 'succeeded');
}

interface Sending {
  readonly plan: Plan;
  readonly step: PlanNotify;
  readonly run: RunRow;
  readonly context: ActivityContext;
}

async function send(world: World, command: Notify, { plan, step, run, context }: Sending): Promise<void> {
  const { to, keySecret } = step;
  const at = world.clock.now();
  await world.webhooks.send({
    url: 'url' in to ? to.url : await secretOfRun(world, { plan, runId: command.runId }, to.secret),
    key: keySecret === null ? null : await secretOfRun(world, { plan, runId: command.runId }, keySecret),
    // One end of one run is one message, however often it is tried; a run that was resumed ends once more.
    id: world.keys.uuidOf(command.id),
    at,
    body: JSON.stringify(bodyOf(run, plan, step)),
    signal: context.signal,
  });
}

function bodyOf(run: RunRow, plan: Plan, { text }: PlanNotify): object {
  const status = runStatus(run, plan);
  const words: Readonly<Record<string, string>> = {
    job: plan.name,
    run: run.runId,
    status,
    succeeded: String(run.ended.succeeded ?? 0),
    total: String(run.total),
    usd: formatUsd(nanoUsd(run.spentNanoUsd)).slice(1),
  };
  return {
    type: 'run.ended',
    run: run.runId,
    job: plan.name,
    labels: plan.labels,
    plan_hash: run.planHash,
    status,
    total: run.total,
    ended: run.ended,
    spent_nano_usd: run.spentNanoUsd,
    began_at: new Date(run.createdAt).toISOString(),
    text: fillWords(text, words),
  };
}
