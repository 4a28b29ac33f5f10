/**
 * A run that goes on beside a job that was changed since: what is not as it was planned, and what of it a run takes up.
 * Owns that nothing is taken up unasked. A run follows its plan: pace and budget can change, conversations can be
 * cancelled, and everything else stays as planned until it is run anew.
 */
import { counted } from '../core/counted.ts';
import type { RunId } from '../core/ids.ts';
import type { Plan } from '../core/plan.ts';
import type { RunSettings } from '../core/run/message.ts';
import { diffPlans, isUnchanged, type PlanDiff } from '../dsl/plan-diff.ts';
import { CliError } from './cli-error.ts';
import type { Host } from './host-port.ts';
import { planDiffLines } from './print/plan-diff.ts';

export interface ChangedJob {
  readonly host: Host;
  readonly runId: RunId;
  /** Of the run. */
  readonly planned: Plan;
  /** The file as it is now, compiled. */
  readonly job: Plan;
  readonly accepts: boolean;
  /** Who asks, and the beginning of the ids of what is asked. */
  readonly by: string;
  readonly requestId: string;
  /** For people. */
  say(text: string): void;
}

/**
 * Tells the run what it can take up, once it was accepted.
 * @throws CliError when the job has changed and nobody accepted it, or when it is another job
 */
export async function takeChanges(changed: ChangedJob): Promise<void> {
  const { host, runId, planned, job, accepts, by, requestId, say } = changed;
  if (job.name !== planned.name)
    throw new CliError(
      `Cannot go on with the run "${runId}": its job is "${planned.name}", not "${job.name}"`,
    );
  const rows = await host.runItems(runId);
  const diff = diffPlans(planned, job, new Map(rows.map(({ key, outcome }) => [key, outcome])));
  if (isUnchanged(diff)) return;
  for (const line of planDiffLines(diff, runId)) say(line);
  if (!accepts)
    throw new CliError(`Cannot go on with the run "${runId}": its job has changed`, {
      remedy: 'add --accept-changes, resume without the file to follow the plan, or start another run',
    });
  const settings = settingsOf(diff);
  if (Object.keys(settings).length > 0)
    await host.tellRun(runId, { type: 'settingsChanged', requestId: `${requestId}-accept`, by, settings });
  const open = new Set(rows.filter(({ endedAt }) => endedAt === null).map(({ key }) => key));
  const gone = diff.items.filter(({ kind, key }) => kind === 'orphaned' && open.has(key));
  if (gone.length > 0) {
    const keys = gone.map(({ key }) => key);
    await host.tellRun(runId, { type: 'cancelRequested', requestId: `${requestId}-gone`, by, keys });
  }
  for (const text of keptWords(diff)) say(text);
}

/** Fields of a plan that a run can change, as it is told them. */
const SETTINGS: Readonly<Record<string, (value: unknown) => RunSettings>> = {
  'admission.concurrency': (value) => ({ concurrency: value as number }),
  'admission.startEveryMs': (value) => ({ startEveryMs: (value as number | undefined) ?? null }),
  'budget.nanoUsd': (value) => ({ budgetNanoUsd: value as number }),
};

function settingsOf({ run }: PlanDiff): RunSettings {
  return run.reduce<RunSettings>(
    (settings, { field, after }) => ({ ...settings, ...SETTINGS[field]?.(after) }),
    {},
  );
}

/** What was accepted and is not taken up is named: silence would read as a promise. */
function keptWords({ run, items }: PlanDiff): string[] {
  const fields = run.filter(({ field }) => SETTINGS[field] === undefined).map(({ field }) => field);
  const count = (wanted: 'new' | 'changed'): number => items.filter(({ kind }) => kind === wanted).length;
  const anew = 'run them anew with "parley run FILE --only KEY"';
  return [
    ...(fields.length === 0 ? [] : [`as planned: ${fields.join(', ')}`]),
    ...(count('changed') === 0
      ? []
      : [`as planned: ${counted(count('changed'), 'changed conversation')}; ${anew}`]),
    ...(count('new') === 0
      ? []
      : [`not part of the run: ${counted(count('new'), 'new conversation')}; ${anew}`]),
  ];
}
