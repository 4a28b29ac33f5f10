/**
 * Bringing one incarnation up.
 * Owns the decision between adopting, replacing and launching, and the wait for the Agent Server.
 */
import { chown, mkdir, rm } from 'node:fs/promises';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxAddress, SandboxLimits, StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { prepareGuard } from '../on-host/guard/guard-file.ts';
import { prepareHostSocketDirs } from '../on-host/host-sockets.ts';
import { INSIDE, BOUND_PORTS, routesOf } from '../on-host/inside-view.ts';
import { ensurePrivateDir } from '../on-host/private-dir.ts';
import { removeTree } from '../on-host/remove-tree.ts';
import { untilSealed } from '../on-host/sealed-socket.ts';
import type { StartOrder as OrderOfPlace } from '../on-host/runtime-by-record.ts';
import type { SandboxPlace } from '../on-host/sandbox-place.ts';
import { prepareFilesAs } from '../on-host/tools-user.ts';
import { stale, staleReason, tooLate } from '../on-host/order-refusals.ts';
import { containerSpec } from './container-spec.ts';
import { containerUser } from './container-user.ts';
import {
  findContainer,
  launchContainer,
  listContainers,
  removeContainer,
  setFrozen,
  stopContainer,
} from './containers.ts';
import type { Containers } from './containers.ts';
import { ensureImage } from './image/sandbox-image.ts';
import { readLastWords } from './last-words.ts';
import { containerName } from './names.ts';
import type { DockerRuntimeOptions } from './options.ts';
import { readRecord, writeRecord } from './sandbox-record.ts';

const ROOT = 0;

export interface StartOrder extends OrderOfPlace<SandboxPlace> {
  readonly options: DockerRuntimeOptions;
  readonly limits: SandboxLimits;
  readonly containers: Containers;
}

/** @throws ParleyError as `SandboxRuntime.start` */
export async function startSandbox(order: StartOrder): Promise<SandboxAddress> {
  const { options, containers, place, request, endedGeneration, overtaken } = order;
  const found = await readRecord(place);
  const refused = staleReason({ request, found, endedGeneration, isOvertaken: overtaken.aborted });
  if (refused !== null) throw stale(request, refused);
  const name = containerName(options.dataDir, request.sandboxId, request.generation);
  if (found?.generation === request.generation) {
    const status = (await findContainer(containers, name))?.status;
    if (status === 'frozen') await setFrozen(containers, name, false);
    if (status === 'running' || status === 'frozen') return await waitUntilReady(order, name);
  }
  await endContainers(containers, request);
  if (options.clock.now() >= request.deadline) throw tooLate(request);
  await launch(order, name);
  return await waitUntilReady(order, name);
}

/** Every container of the sandbox, whatever generation it is of: at most one is ever up. */
export async function endContainers(
  containers: Containers,
  { sandboxId }: Pick<StartSandboxRequest, 'sandboxId'>,
): Promise<void> {
  for (const { id } of await listContainers(containers, sandboxId)) {
    await stopContainer(containers, id);
    await removeContainer(containers, id);
  }
}

async function launch(order: StartOrder, name: string): Promise<void> {
  const { options, limits, containers, place, request } = order;
  const { sandboxId, generation, sessionKey } = request;
  const image = await ensureImage(containers.daemon, options.image);
  await prepareDirectories(order);
  const guard = await prepareGuard(place.etc);
  const filesAs = options.splitsTools === true ? await prepareFilesAs(place.etc, containerUser()) : null;
  await writeRecord(place, {
    version: 1,
    sandboxId,
    generation,
    desired: 'up',
    image: image.reference,
    launchedAt: options.clock.now(),
  });
  const marks = { sandboxId, generation };
  const spec = containerSpec({ options, limits, place, marks, image, guard, filesAs });
  const warnings = await launchContainer(containers, { name, spec, sessionKey });
  for (const text of warnings) options.warn(`Docker: ${text}`);
}

/** The agent may have left anything in its socket directory; workspace and state are kept (D15). */
async function prepareDirectories({ options, place }: StartOrder): Promise<void> {
  await prepareHostSocketDirs(options);
  await mkdir(place.dir, { recursive: true, mode: 0o700 });
  await ensurePrivateDir(options.socketDir);
  await removeTree(place.socketDir);
  await mkdir(place.socketDir, { mode: 0o700 });
  await rm(place.endedFor, { force: true });
  const { uid, gid } = containerUser();
  for (const [dir, mode] of [
    [place.workspace, 0o755],
    [place.agent, 0o700],
    [place.plugins, 0o700],
    [place.offeredDir, 0o700],
  ] as const) {
    await mkdir(dir, { recursive: true, mode });
    if (process.getuid?.() === ROOT) await chown(dir, uid, gid);
  }
}

async function waitUntilReady(order: StartOrder, name: string): Promise<SandboxAddress> {
  const { options, containers, place, request } = order;
  await untilSealed({
    ...order,
    clock: options.clock,
    async problem() {
      const container = await findContainer(containers, name);
      if (container !== null && container.status !== 'ended') return null;
      const { words } = await readLastWords(containers, { place, name, container });
      return new ParleyError('runtime_failed', `Cannot start sandbox "${request.sandboxId}": ${words}`);
    },
    giveUp: () => stopContainer(containers, name),
  });
  return addressOf(place, request);
}

export function addressOf(
  place: SandboxPlace,
  { sandboxId, generation }: Pick<StartSandboxRequest, 'sandboxId' | 'generation'>,
): SandboxAddress {
  return {
    sandboxId,
    generation,
    agent: { socketPath: place.socket },
    routes: routesOf(BOUND_PORTS),
    workspaceDir: INSIDE.workspace,
  };
}
