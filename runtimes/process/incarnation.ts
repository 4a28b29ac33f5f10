/**
 * The processes of one sandbox, as far as the host can see them.
 * Owns the answer to "does it still run, and under which numbers"; never by number alone, for numbers are reused.
 */
import { readFile } from 'node:fs/promises';
import { readLaunched } from './launch-script.ts';
import { childrenOf, innerPidOf, isAlive, pidNamespaceOf, processesWith, startOf } from './process-table.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** Bubblewrap starts our program as the first child of its own process 1. */
const PROGRAM_INNER_PID = 2;

export interface IncarnationProcesses {
  /** The launched process: bubblewrap's outer half, or our first program where nothing is isolated. */
  readonly launched: number | null;
  /** Process 1 of the namespace, in the host's counting: its death is the death of everything inside. */
  readonly namespaceInit: number | null;
}

interface BwrapStatus {
  readonly childPid: number | null;
  readonly pidNamespace: number | null;
  readonly exitCode: number | null;
}

/** What runs of the incarnation; both null when nothing does. */
export async function findProcesses(paths: SandboxPaths): Promise<IncarnationProcesses> {
  const launched = await readLaunched(paths.process);
  if (launched === null) return { launched: null, namespaceInit: null };
  const status = await readBwrapStatus(paths.status);
  const alive = (await isAlive(launched)) ? launched.pid : null;
  return { launched: alive, namespaceInit: await namespaceInitOf(status) };
}

/**
 * Whether our first program still runs. After its end process 1 of the namespace stays as long as anything the agent
 * started does; that is a remainder to be killed, not a sandbox that works. Nor does bubblewrap's outer half make one:
 * while it is held stopped, it outlives a namespace that has gone.
 */
export async function isRunning(paths: SandboxPaths): Promise<boolean> {
  // Read before the processes are: a child that is reported only afterwards counts as not reported.
  const { childPid, exitCode } = await readBwrapStatus(paths.status);
  const { launched, namespaceInit } = await findProcesses(paths);
  if (exitCode !== null) return false;
  // Until bubblewrap has reported its child, and where nothing is isolated, only the launched process can be seen.
  return namespaceInit !== null || (launched !== null && childPid === null);
}

/** The process to signal for an end: our first program, which passes the signal on to the agent server. */
export async function findProgram(
  processes: IncarnationProcesses,
  record: SandboxRecord,
): Promise<number | null> {
  if (record.isolation === 'none') return processes.launched;
  if (processes.namespaceInit === null) return null;
  for (const pid of await childrenOf(processes.namespaceInit)) {
    if ((await innerPidOf(pid)) === PROGRAM_INNER_PID) return pid;
  }
  return null;
}

/**
 * Processes of a plain sandbox that left its process tree: they still carry its home or its socket in their environment.
 * Not its id: another installation may run a sandbox of the same id on this host, and an agent's shells do not have it.
 */
export async function findStrays(paths: SandboxPaths, record: SandboxRecord): Promise<readonly number[]> {
  if (record.isolation !== 'none') return [];
  return await processesWith([`HOME=${paths.home}`, `PARLEY_AGENT_SOCKET=${paths.offeredSocket}`]);
}

/** Bubblewrap writes a line in pieces, the child before its namespaces: a line without its end is not read yet. */
export async function readBwrapStatus(file: string): Promise<BwrapStatus> {
  const written = await readFile(file, 'utf8').catch(() => '');
  const text = written.slice(0, written.lastIndexOf('\n') + 1);
  const number = (name: string): number | null => {
    const found = new RegExp(`"${name}": (\\d+)`).exec(text)?.[1];
    return found === undefined ? null : Number(found);
  };
  return {
    childPid: number('child-pid'),
    pidNamespace: number('pid-namespace'),
    exitCode: number('exit-code'),
  };
}

/** A reused number is in another namespace; a namespace number is reused only after the namespace has gone. */
async function namespaceInitOf(status: BwrapStatus): Promise<number | null> {
  const { childPid, pidNamespace } = status;
  if (childPid === null || pidNamespace === null) return null;
  // Bubblewrap's outer half may end first; then the remains wait for the host's process 1 to reap them.
  if ((await startOf(childPid)) === null) return null;
  if ((await pidNamespaceOf(childPid)) !== pidNamespace) return null;
  return (await innerPidOf(childPid)) === 1 ? childPid : null;
}
