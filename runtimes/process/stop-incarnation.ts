/**
 * Ending every process of one sandbox.
 * Owns the order: signal, wait, kill, make sure; must not touch what the sandbox wrote.
 */
import { existsSync } from 'node:fs';
import { ParleyError } from '../../core/parley-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { killGroup, processesIn, removeGroup, setGroupFrozen } from './cgroups/sandbox-group.ts';
import { findProcesses, findProgram, findStrays, isRunning, readBwrapStatus } from './incarnation.ts';
import type { IncarnationProcesses } from './incarnation.ts';
import { KILL_ROUNDS_MAX, KILL_WAIT_MS, LAUNCH_WAIT_MS, STOP_GRACE_MS } from '../on-host/limits.ts';
import { childrenOf, descendantsOf, isAlive, startOf, type ProcessIdentity } from './process-table.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import type { SandboxRecord } from './sandbox-record.ts';
import { becomesTrue } from '../on-host/wait.ts';

interface StopTarget {
  readonly paths: SandboxPaths;
  readonly record: SandboxRecord;
}

/**
 * Returns when nothing of the incarnation runs any more. Nothing running is success.
 * @throws ParleyError runtime_unreachable: processes survived the kill
 */
export async function stopIncarnation(target: StopTarget, clock: Clock): Promise<void> {
  const { group } = target.record;
  const gone = async (): Promise<boolean> => {
    const { launched, namespaceInit } = await findProcesses(target.paths);
    return launched === null && namespaceInit === null && (await emptied(group));
  };
  // A frozen process takes a signal only when it goes on.
  if (group !== null) await setGroupFrozen(group, false);
  const processes = await settledProcesses(target, clock);
  const family = await plainFamily(target, processes);
  const program = await findProgram(processes, target.record);
  if (program !== null) {
    send(program, 'SIGTERM');
    await becomesTrue(clock, STOP_GRACE_MS, async () => !(await isRunning(target.paths)));
  }
  await killProcesses(await findProcesses(target.paths));
  if (!(await becomesTrue(clock, KILL_WAIT_MS, gone))) {
    const message = `Cannot stop sandbox "${target.record.sandboxId}": its processes survive a kill`;
    throw new ParleyError('runtime_unreachable', message);
  }
  await killStrays(target, family);
  if (group !== null) await removeGroup(group);
}

/** Kills what is left in the control group, and returns whether it was empty. */
async function emptied(group: SandboxRecord['group']): Promise<boolean> {
  if (group === null) return true;
  if ((await processesIn(group)).length === 0) return true;
  await killGroup(group);
  return false;
}

/** The processes, once the launch has left its traces: a moment after it they are not all written. */
async function settledProcesses(target: StopTarget, clock: Clock): Promise<IncarnationProcesses> {
  await launchSettled(target, clock);
  let processes = await findProcesses(target.paths);
  if (target.record.isolation === 'none') return processes;
  await becomesTrue(clock, LAUNCH_WAIT_MS, async () => {
    const hasTold = (await readBwrapStatus(target.paths.status)).childPid !== null;
    processes = await findProcesses(target.paths);
    return processes.launched === null || hasTold;
  });
  return processes;
}

/**
 * Waits for the process file of a launch that is only moments old: the process that ordered it may have died, and
 * what it launched comes up all the same.
 */
export async function launchSettled({ paths, record }: StopTarget, clock: Clock): Promise<void> {
  if (record.desired !== 'up') return;
  const waitMs = Math.min(record.launchedAt + LAUNCH_WAIT_MS - clock.now(), LAUNCH_WAIT_MS);
  await becomesTrue(clock, waitMs, () => Promise.resolve(existsSync(paths.process)));
}

/** At once, as for one that keeps too much on disk. */
export async function killIncarnation(paths: SandboxPaths): Promise<void> {
  await killProcesses(await findProcesses(paths));
}

/** The namespace first: bubblewrap's outer half ends by itself when it is gone. */
async function killProcesses(processes: IncarnationProcesses): Promise<void> {
  const { launched, namespaceInit } = processes;
  if (namespaceInit !== null) send(namespaceInit, 'SIGKILL');
  if (launched === null) return;
  for (const child of await childrenOf(launched)) send(child, 'SIGKILL');
  send(launched, 'SIGKILL');
}

/** A plain process cannot be stopped as a whole, so its descendants are noted before their parents are gone. */
async function plainFamily(
  target: StopTarget,
  processes: IncarnationProcesses,
): Promise<readonly ProcessIdentity[]> {
  if (target.record.isolation !== 'none' || processes.launched === null) return [];
  const pids = await descendantsOf(processes.launched);
  const starts = await Promise.all(pids.map(startOf));
  return pids.flatMap((pid, index) => {
    const startedAt = starts[index] ?? null;
    return startedAt === null ? [] : [{ pid, startedAt }];
  });
}

/** Best effort, as docs/runtimes.md says: what hides from the process tree and from its environment stays. */
async function killStrays(target: StopTarget, family: readonly ProcessIdentity[]): Promise<void> {
  for (const identity of family) if (await isAlive(identity)) send(identity.pid, 'SIGKILL');
  for (let round = 0; round < KILL_ROUNDS_MAX; round += 1) {
    const strays = await findStrays(target.paths, target.record);
    if (strays.length === 0) return;
    for (const pid of strays) send(pid, 'SIGKILL');
  }
}

/** A process that is gone already needs no signal. */
function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself; a caller that must be sure checks again.
  }
}
