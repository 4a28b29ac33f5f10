/**
 * One thing done with a run by a host of its own: collect, reconcile, report.
 * Owns opening, the check that the run exists, and closing.
 */
import type { RunId } from '../core/ids.ts';
import type { RunRow } from '../core/machine/projection.ts';
import type { Host, HostPort, RunDesk } from '../host/host-port.ts';
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
  asked: RunWork,
  work: (host: Host, runId: RunId, row: RunRow) => Promise<Result>,
): Promise<Result> {
  return await within(shell, { asked, open: (port, ...rest) => port.openHost(...rest) }, work);
}

/** The same for what needs no engine where results live in a bucket. @throws as `withHost` */
export async function withDesk<Result>(
  shell: Shell,
  asked: RunWork,
  work: (desk: RunDesk, runId: RunId, row: RunRow) => Promise<Result>,
): Promise<Result> {
  return await within(shell, { asked, open: (port, ...rest) => port.openDesk(...rest) }, work);
}

interface Within<Opened> {
  readonly asked: RunWork;
  open(port: HostPort, ...rest: Parameters<HostPort['openHost']>): Promise<Opened>;
}

async function within<Opened extends RunDesk, Result>(
  shell: Shell,
  { asked: { id, config: path }, open }: Within<Opened>,
  work: (host: Opened, runId: RunId, row: RunRow) => Promise<Result>,
): Promise<Result> {
  parseRunId(id);
  const config = await openDeployment(shell, { path, startsProxy: true });
  const port = await shell.hostPort();
  const onNotice = (text: string): void => {
    shell.stderr.write(`${printable(text)}\n`);
  };
  const host = await open(port, config, { onNotice });
  try {
    const row = await namedRun(host, id);
    return await work(host, row.runId, row);
  } finally {
    await host.close();
  }
}
