/**
 * The last run of a job in the store, for comparing a plan with it.
 * Owns which run that is; without a store, or a readable deployment, there is none.
 */
import type { Plan } from '../core/plan/plan.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import type { DeploymentConfig } from '../host/config/deployment-config.ts';
import { loadDeployment } from '../host/config/load-deployment.ts';
import { noSuchRun, openStored } from '../host/open-deployment.ts';
import { parseRunId } from '../host/run-id.ts';
import type { Shell } from '../host/shell.ts';

export interface LastRun {
  /** Null when the configuration has errors, which is not what is asked here. */
  readonly deployment: DeploymentConfig | null;
  readonly runId: string | null;
  readonly plan: Plan | null;
  readonly items: readonly RunItemRow[];
}

export interface LastRunRequest {
  /** Value of `--config`. */
  readonly config: string | undefined;
  /** Value of `--diff`: a run that must be there. */
  readonly against: string | undefined;
}

/** @throws CliError when the run that is named does not exist */
export async function lastRun(
  shell: Shell,
  { name }: Plan,
  { config, against }: LastRunRequest,
): Promise<LastRun> {
  const { cwd, env } = shell;
  const { config: deployment } = await loadDeployment({ path: config ?? null, cwd, env });
  const none: LastRun = { deployment, runId: null, plan: null, items: [] };
  const reader = deployment === null ? null : await openStored(shell, deployment);
  if (reader === null && against !== undefined) throw noSuchRun(against);
  if (reader === null) return none;
  try {
    const row =
      against === undefined
        ? (await reader.runs()).find((run) => run.name === name)
        : await reader.run(parseRunId(against));
    if (row === undefined) return none;
    if (row === null) throw noSuchRun(against ?? '');
    return {
      deployment,
      runId: row.runId,
      plan: await reader.plan(row.runId),
      items: await reader.runItems(row.runId),
    };
  } finally {
    await reader.close();
  }
}
