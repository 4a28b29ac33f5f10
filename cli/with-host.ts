/**
 * One thing done with a run by a host of its own: collect, reconcile, report.
 * Owns opening, the check that the run exists, and closing.
 */
import type { RunId } from '../core/ids.ts';
import type { RunRow } from '../core/machine/projection.ts';
import type { Host } from '../host/host-port.ts';
import { openDeployment } from '../host/open-deployment.ts';
import { namedRun } from './open-run.ts';
import { printable } from '../host/terminal-text.ts';
import { parseRunId } from '../host/run-id.ts';
import type { Shell } from '../host/shell.ts';

export interface RunWork {
  readonly id: string;
  /** Value of `--config`. */
  readonly config: string | undefined;
}

/** @throws ParleyError data_directory_locked while another process runs things; CliError when there is no such run */
export async function withHost<Result>(
  shell: Shell,
  { id, config: path }: RunWork,
  work: (host: Host, runId: RunId, row: RunRow) => Promise<Result>,
): Promise<Result> {
  parseRunId(id);
  const config = await openDeployment(shell, { path, startsProxy: true });
  const port = await shell.hostPort();
  const onNotice = (text: string): void => {
    shell.stderr.write(`${printable(text)}\n`);
  };
  const host = await port.openHost(config, { onNotice });
  try {
    const row = await namedRun(host, id);
    return await work(host, row.runId, row);
  } finally {
    await host.close();
  }
}
