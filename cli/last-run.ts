/**
 * The last run of a job in the store, for comparing a plan with it.
 * Owns which run that is; without a store, or a readable deployment, there is none.
 */
import type { Plan } from '../core/plan/plan.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import type { DeploymentConfig } from '../host/config/deployment-config.ts';
import { noSuchRun, openStored } from '../host/open-deployment.ts';
import { parseRunId } from '../host/run-id.ts';
import type { Shell } from '../host/shell.ts';

interface LastRun {
  readonly runId: string | null;
  readonly plan: Plan | null;
  readonly items: readonly RunItemRow[];
}

interface LastRunRequest {
  /** Null when the configuration has errors, which is not what is asked here. */
  readonly deployment: DeploymentConfig | null;
  /** Value of `--diff`: a run that must be there. */
  readonly against: string | undefined;
}

const NONE: LastRun = { runId: null, plan: null, items: [] };

/** @throws CliError when the run that is named does not exist */
export async function lastRun(
  shell: Shell,
  { name }: Plan,
  { deployment, against }: LastRunRequest,
): Promise<LastRun> {
  const reader = deployment === null ? null : await openStored(shell, deployment);
  if (reader === null && against !== undefined) throw noSuchRun(against);
  if (reader === null) return NONE;
  try {
    const row =
      against === undefined
        ? (await reader.runs()).find((run) => run.name === name)
        : await reader.run(parseRunId(against));
    if (row === undefined) return NONE;
    if (row === null) throw noSuchRun(against ?? '');
    const { runId } = row;
    return { runId, plan: await reader.plan(runId), items: await reader.runItems(runId) };
  } finally {
    await reader.close();
  }
}
