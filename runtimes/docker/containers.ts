/**
 * What is done to single containers.
 * Owns the calls and what each answer means; a call that finds its work done is a success.
 */
import type Docker from 'dockerode';
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { freezerOf, isFrozen, setFrozen as setFrozenInKernel } from '../on-host/kernel-freezer.ts';
import type { FreezerGroup } from '../on-host/kernel-freezer.ts';
import { POLL_MS } from '../on-host/limits.ts';
import { sleep } from '../on-host/wait.ts';
import { unless, type DockerDaemon } from './docker-daemon.ts';
import { LOG_TAIL_LINES, REMOVAL_POLLS_MAX, STOP_GRACE_S } from './limits.ts';
import { labelFilter, marksOf, type Marks } from './names.ts';

/** Bytes before each piece of a log: the stream's number, three zeros, the length. */
const FRAME_BYTES = 8;

/** What the daemon reports of one container. */
export interface ContainerState {
  readonly id: string;
  readonly marks: Marks | null;
  readonly status: 'running' | 'frozen' | 'made' | 'ended';
  readonly exitCode: number;
  readonly outOfMemory: boolean;
  /** What holds it still without the daemon's knowledge: a daemon that is killed while it pauses forgets the pause. */
  readonly forgotten: FreezerGroup | null;
}

export interface Containers {
  readonly daemon: DockerDaemon;
  readonly dataDir: string;
  readonly clock: Clock;
}

/** Null when the daemon has none of that name, or is removing it. */
export async function findContainer(on: Containers, name: string): Promise<ContainerState | null> {
  const info = await on.daemon.ask(`look at container "${name}"`, (docker) =>
    unless([404], docker.getContainer(name).inspect()),
  );
  if (info === null || info.State.Status === 'removing') return null;
  const { State: state, Config: config } = info;
  const forgotten = state.Running && !state.Paused ? await forgottenFreeze(state.Pid, info.Id) : null;
  return {
    id: info.Id,
    marks: marksOf(on.dataDir, config.Labels),
    status: forgotten === null ? whatItDoes(state) : 'frozen',
    exitCode: state.ExitCode,
    outOfMemory: state.OOMKilled,
    forgotten,
  };
}

function whatItDoes(state: Docker.ContainerInspectInfo['State']): ContainerState['status'] {
  if (state.Paused) return 'frozen';
  if (state.Running) return 'running';
  return state.Status === 'created' ? 'made' : 'ended';
}

/** The state of the kernel, where the daemon runs on this host. */
async function forgottenFreeze(pid: number, id: string): Promise<FreezerGroup | null> {
  const freezer = await freezerOf(pid, id);
  return freezer !== null && (await isFrozen(freezer)) ? freezer : null;
}

interface ListedContainer {
  readonly id: string;
  readonly marks: Marks;
  readonly up: boolean;
}

/** Every container of this installation, or of one sandbox of it; one that is being removed is not there. */
export async function listContainers(
  on: Containers,
  id: SandboxId | null = null,
): Promise<readonly ListedContainer[]> {
  const filters = { label: [...labelFilter(on.dataDir, id)] };
  const all = await on.daemon.ask('list containers', (docker) =>
    docker.listContainers({ all: true, filters }),
  );
  return all.flatMap(({ Id, Labels, State }) => {
    const marks = marksOf(on.dataDir, Labels);
    if (marks === null || State === 'removing') return [];
    return [{ id: Id, marks, up: State === 'running' || State === 'paused' }];
  });
}

/** Ends in order: what stands still goes on first, so that it receives the request. */
export async function stopContainer(on: Containers, idOrName: string): Promise<void> {
  const found = await findContainer(on, idOrName);
  if (found === null) return;
  // What cannot be thawed receives nothing; the daemon kills it at the end of its grace.
  if (found.status === 'frozen') await setFrozen(on, idOrName, false).catch(unlessUnreachable);
  if (found.status === 'running' || found.status === 'frozen') {
    await on.daemon.ask(`stop container "${idOrName}"`, (docker) =>
      unless([304, 404], docker.getContainer(idOrName).stop({ t: STOP_GRACE_S })),
    );
  }
}

/** Whatever it is doing. Returns when the daemon does not have it any more. */
export async function removeContainer(on: Containers, idOrName: string): Promise<void> {
  const look = (): Promise<unknown> =>
    on.daemon.ask(`look at container "${idOrName}"`, (docker) =>
      unless([404], docker.getContainer(idOrName).inspect()),
    );
  await on.daemon.ask(`remove container "${idOrName}"`, (docker) =>
    // 409: another process is removing it already.
    unless([404, 409], docker.getContainer(idOrName).remove({ force: true, v: true })),
  );
  for (let count = 0; count < REMOVAL_POLLS_MAX && (await look()) !== null; count += 1) {
    await sleep(on.clock, POLL_MS);
  }
}

export async function killContainer(on: Containers, idOrName: string): Promise<void> {
  await on.daemon.ask(`kill container "${idOrName}"`, (docker) =>
    // 409: it does not run.
    unless([404, 409], docker.getContainer(idOrName).kill()),
  );
}

/** The daemon refuses what is so already, with different numbers: only a query shows the state. */
export async function setFrozen(on: Containers, idOrName: string, frozen: boolean): Promise<void> {
  const status = frozen ? 'frozen' : 'running';
  const found = await findContainer(on, idOrName);
  if (found?.status === status) return;
  if (!frozen && found !== null && found.forgotten !== null) {
    await thawForgotten(idOrName, found.forgotten);
    return;
  }
  try {
    await on.daemon.ask(`${frozen ? 'pause' : 'unpause'} container "${idOrName}"`, (docker) => {
      const container = docker.getContainer(idOrName);
      return frozen ? container.pause() : container.unpause();
    });
  } catch (error) {
    if ((await findContainer(on, idOrName))?.status !== status) throw error;
  }
}

/** The daemon refuses to pause and to unpause what it takes for running, so the kernel thaws it. */
async function thawForgotten(idOrName: string, freezer: FreezerGroup): Promise<void> {
  try {
    await setFrozenInKernel(freezer, false);
  } catch (cause) {
    const remedy = `write THAWED to freezer.state, or 0 to cgroup.freeze, in "${freezer.directory}" as root`;
    const what = `Cannot unpause container "${idOrName}": Docker has forgotten that it paused it`;
    throw new ParleyError('runtime_failed', what, { cause, remedy });
  }
}

function unlessUnreachable(error: unknown): void {
  if (error instanceof ParleyError && error.code === 'runtime_failed') return;
  throw error;
}

/** The end of what it printed; empty when there is no such container. */
export async function readLog(on: Containers, idOrName: string): Promise<string> {
  const bytes = await on.daemon.ask(`read the log of container "${idOrName}"`, (docker) =>
    unless(
      [404, 409],
      docker.getContainer(idOrName).logs({ stdout: true, stderr: true, tail: LOG_TAIL_LINES, follow: false }),
    ),
  );
  return bytes === null ? '' : unframed(bytes);
}

function unframed(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + FRAME_BYTES <= bytes.length;) {
    const end = at + FRAME_BYTES + bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + FRAME_BYTES, end));
    at = end;
  }
  return Buffer.concat(parts).toString('utf8');
}

/**
 * Made and started, with the session key on its standard input. A container of that name that is there already is the
 * rest of an attempt whose answer was lost: it has no key, and is replaced.
 */
export async function launchContainer(
  on: Containers,
  {
    name,
    spec,
    sessionKey,
  }: {
    readonly name: string;
    readonly spec: Docker.ContainerCreateOptions;
    readonly sessionKey: string;
  },
): Promise<readonly string[]> {
  await removeContainer(on, name);
  return await on.daemon.ask(`start container "${name}"`, async (docker) => {
    const container = await docker.createContainer({ ...spec, name });
    // Attached before it runs: should we end in between, the daemon closes its standard input.
    const stdin = await container.attach({ stream: true, stdin: true, hijack: true });
    stdin.on('error', () => undefined);
    await unless([304], container.start());
    stdin.end(sessionKey);
    return (container as { readonly Warnings?: readonly string[] }).Warnings ?? [];
  });
}
