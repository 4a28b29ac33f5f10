/**
 * A run that goes on without its terminal: another process of this program carries it out.
 * Owns starting that process and waiting until the run is known; must not watch the run.
 */
import path from 'node:path';
import type { RunId } from '../core/ids.ts';
import type { PlanIssues } from '../core/plan/plan-issue.ts';
import { CliError } from '../host/cli-error.ts';
import type { DeploymentConfig } from '../host/config/deployment-config.ts';
import { EXIT, type ExitCode } from '../host/exit-code.ts';
import { dropHandedIssues, handIssues } from './job/issue-answers.ts';
import { openStored } from '../host/open-deployment.ts';
import { openRecords } from '../host/records.ts';
import { calledAs, type Shell } from '../host/shell.ts';
import { sleep } from '../runtimes/on-host/wait.ts';

/** A process that has not made its run known by then waits for something that the user must check. */
const KNOWN_MS_MAX = 120_000;
const POLL_MS = 100;

export interface Detach {
  readonly config: DeploymentConfig;
  readonly runId: RunId;
  /** The command line of the other process, without the name of the program. */
  readonly args: readonly string[];
  /** What code hosts have answered, so that the other process queries none of them again. */
  readonly issues: readonly PlanIssues[];
  readonly json: boolean;
}

/** Ends once the run is in the store: from then on it goes on, or can be resumed. @throws CliError */
export async function detach(shell: Shell, { config, runId, args, issues, json }: Detach): Promise<ExitCode> {
  const logFile = path.join(config.dataDir, 'detached', `${runId}.log`);
  handIssues(config.dataDir, runId, issues);
  try {
    await untilKnown(shell, { config, runId, args, logFile });
  } finally {
    dropHandedIssues(config.dataDir, runId);
  }
  if (json) openRecords(shell.stdout).write({ type: 'detached', run_id: runId, log: logFile });
  else shell.stdout.write(`run ${runId}\nlook with: ${calledAs(shell)} watch ${runId}\nlog: ${logFile}\n`);
  return EXIT.ok;
}

interface Started extends Pick<Detach, 'config' | 'runId' | 'args'> {
  readonly logFile: string;
}

/** @throws CliError */
async function untilKnown(shell: Shell, { config, runId, args, logFile }: Started): Promise<void> {
  const { ended } = shell.startDetached({ args, logFile });
  const exit: { code: number | null } = { code: null };
  void ended.then((code) => (exit.code = code));
  const until = shell.clock.now() + KNOWN_MS_MAX;
  while (!(await isKnown(shell, config, runId))) {
    if (exit.code !== null)
      throw new CliError(`Cannot start the run "${runId}": its process ended with ${exit.code}`, {
        remedy: `read ${logFile}`,
      });
    if (shell.clock.now() > until)
      throw new CliError(`Cannot see the run "${runId}": its process has not made it known`, {
        remedy: `read ${logFile}`,
        exitCode: EXIT.unreachable,
      });
    await sleep(shell.clock, POLL_MS);
  }
}

/** The other process makes the store; one that cannot be read now is read again. */
async function isKnown(shell: Shell, config: DeploymentConfig, runId: RunId): Promise<boolean> {
  const reader = await openStored(shell, config).catch(() => null);
  if (reader === null) return false;
  try {
    return (await reader.run(runId).catch(() => null)) !== null;
  } finally {
    await reader.close();
  }
}
