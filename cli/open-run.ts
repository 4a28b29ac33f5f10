/**
 * The run that a user means, opened to be read: here, or at a service.
 * Owns the one reading of a run's name everywhere: an id, the beginning of one that fits no other, or `last`.
 */
import { CliError } from '../host/cli-error.ts';
import type { RunRow } from '../core/machine/projection.ts';
import type { DeploymentConfig } from '../host/config/deployment-config.ts';
import type { Host, HostPort, Reader } from '../host/host-port.ts';
import { noSuchRun, openRuns } from '../host/open-deployment.ts';
import { parseRunId } from '../host/run-id.ts';
import { serverAddress, type ServerOptions } from './server/server-address.ts';
import type { Shell } from '../host/shell.ts';
import { nearNames } from './story/near-names.ts';
import { printable } from '../host/terminal-text.ts';

/** As a user types it for the run that was started last. */
export const LAST = 'last';
/** Of those that a beginning fits. */
const SHOWN_MAX = 5;

export interface RunAsked extends ServerOptions {
  readonly id: string;
  /** Value of `--config`. */
  readonly config?: string | undefined;
}

export interface OpenedRun {
  readonly row: RunRow;
  readonly reader: Reader;
  readonly from:
    | { readonly kind: 'here'; readonly config: DeploymentConfig; readonly port: HostPort }
    | { readonly kind: 'server'; readonly host: Host };
}

/** The caller closes the reader. @throws CliError when there is no such run, or more than one */
export async function openRun(shell: Shell, asked: RunAsked): Promise<OpenedRun> {
  parseRunId(asked.id);
  const server = await openServer(shell, asked);
  const opened = server === null ? await openRuns(shell, asked.config) : null;
  const reader = server ?? opened?.reader ?? null;
  if (reader === null) throw noSuchRun(asked.id);
  try {
    const row = await namedRun(reader, asked.id);
    if (server !== null) return { row, reader, from: { kind: 'server', host: server } };
    if (opened === null) throw noSuchRun(asked.id);
    const { config, port } = opened;
    return { row, reader, from: { kind: 'here', config, port } };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/** What `work` gives, with the reader closed behind it. @throws as `openRun` */
export async function withRun<Answer>(
  shell: Shell,
  asked: RunAsked,
  work: (opened: OpenedRun) => Promise<Answer>,
): Promise<Answer> {
  const opened = await openRun(shell, asked);
  try {
    return await work(opened);
  } finally {
    await opened.reader.close();
  }
}

/** Null when no service is named. Its results are copied to where this deployment keeps its own. */
export async function openServer(
  shell: Shell,
  { config, ...options }: ServerOptions & { readonly config?: string | undefined },
  onNotice = (text: string): void => void shell.stderr.write(`${printable(text)}\n`),
): Promise<Host | null> {
  const address = serverAddress(shell, options);
  if (address === null) return null;
  const { loadDeployment } = await import('../host/config/load-deployment.ts');
  const { cwd, env } = shell;
  const loaded = await loadDeployment({ path: config ?? null, cwd, env });
  const { openServerHost } = await import('./server/server-host.ts');
  return openServerHost({ ...address, resultsDir: loaded.config?.resultsDir ?? `${cwd}/out`, onNotice });
}

/** @throws CliError */
export async function namedRun(reader: Pick<Reader, 'run' | 'runs'>, text: string): Promise<RunRow> {
  const exact = await reader.run(parseRunId(text));
  if (exact !== null) return exact;
  const runs = await reader.runs();
  const found = text === LAST ? runs.slice(0, 1) : runs.filter(({ runId }) => runId.startsWith(text));
  const [only] = found;
  if (only === undefined) throw noRunLike(text, runs);
  if (found.length === 1) return only;
  const shown = found.slice(0, SHOWN_MAX).map(({ runId }) => runId);
  const more = found.length > SHOWN_MAX ? `, and ${found.length - SHOWN_MAX} more` : '';
  throw new CliError(`Cannot tell which run "${text}" is: it begins the ids of ${found.length}`, {
    remedy: `write more of one: ${shown.join(', ')}${more}`,
  });
}

/** Names those that may be meant, the newest first. */
function noRunLike(text: string, runs: readonly RunRow[]): CliError {
  const near = nearNames(
    text,
    runs.map(({ runId }) => runId),
  ).map((runId) => `"${runId}"`);
  if (text === LAST || near.length === 0) return noSuchRun(text);
  return new CliError(`Cannot find the run "${text}": there is no run of this id`, {
    remedy: `did you mean ${near.join(' or ')}?`,
  });
}

/** Null here, where rows are read; a service pushes changes. */
export function hostOfServer(from: OpenedRun['from']): Host | null {
  return from.kind === 'server' ? from.host : null;
}
