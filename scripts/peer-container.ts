/**
 * A server of another project in a container, for tests and benches: its image is pulled where that is possible, and else
 * made of this machine's programs. testcontainers starts it.
 * Owns the image, the port, which is the same inside and on loopback, and what a test does to a server: kill it, stop it,
 * start it again over its files.
 */
import { rmSync } from 'node:fs';
import type { Container } from 'dockerode';
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers';
import { freePort } from '../loopback/free-port.ts';
import { dockerSocket, isOwnDaemon } from './docker-daemon.ts';
import { succeeds, type PeerServer } from './own-process.ts';
import { docker, makeBaseImage, MACHINE_BASE, type DockerCommand } from './machine-images.ts';

/** Where it listens, inside. */
interface PeerPlace {
  readonly host: string;
  readonly port: number;
}

interface PeerOrder {
  /** Public name. */
  readonly image: string;
  /** Makes an image of that name, over `MACHINE_BASE`, where none can be pulled. */
  readonly make: (command: DockerCommand) => Promise<void>;
  readonly command: (place: PeerPlace) => readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Files that it keeps here, by folder inside; removed at its end. */
  readonly folders?: Readonly<Record<string, string>>;
  /** As `UID:GID`, where the image's own may not write to the folders. */
  readonly user?: string;
}

export class PeerContainer implements PeerServer {
  /** On 127.0.0.1. */
  readonly port: number;
  readonly #container: StartedTestContainer;
  readonly #handle: Container;
  readonly #folders: readonly string[];

  constructor(
    port: number,
    parts: { container: StartedTestContainer; handle: Container; folders: readonly string[] },
  ) {
    this.port = port;
    this.#container = parts.container;
    this.#handle = parts.handle;
    this.#folders = parts.folders;
  }

  /** Of its first program, which has ended then. */
  async end(signal: NodeJS.Signals): Promise<void> {
    if (!(await this.isRunning())) return;
    await this.#handle.kill({ signal });
    await this.#handle.wait();
  }

  async start(): Promise<void> {
    await this.#handle.start();
  }

  async isRunning(): Promise<boolean> {
    return (await this.#handle.inspect()).State.Running;
  }

  async said(): Promise<string> {
    return (await this.#handle.logs({ stdout: true, stderr: true, tail: 20 })).toString();
  }

  async close(): Promise<void> {
    await this.#container.stop({ remove: true, removeVolumes: true });
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** The caller waits until it answers. @throws Error no daemon, or no image */
export async function startPeer(order: PeerOrder): Promise<PeerContainer> {
  const socket = dockerSocket();
  process.env['DOCKER_HOST'] = `unix://${socket}`;
  if (isOwnDaemon()) {
    // testcontainers would pull an image of its own to clean up; a daemon of ours ends with all that it runs.
    process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
    // testcontainers would query the gateway of a bridge that is not there.
    process.env['TESTCONTAINERS_HOST_OVERRIDE'] = '127.0.0.1';
  }
  const { image, folders = {}, environment = {}, user } = order;
  await provide({ socket, env: { DOCKER_HOST: `unix://${socket}` } }, order);
  const port = await freePort();
  // A daemon of ours has no network to publish a port from.
  const place = { host: isOwnDaemon() ? '127.0.0.1' : '0.0.0.0', port };
  const mounts = Object.entries(folders).map(([target, source]) => ({ source, target }));
  const plain = new GenericContainer(image)
    .withCommand([...order.command(place)])
    .withEnvironment({ ...environment })
    .withBindMounts(mounts);
  const ours = user === undefined ? plain : plain.withUser(user);
  const reachable = isOwnDaemon()
    ? ours.withNetworkMode('host')
    : ours.withExposedPorts({ container: port, host: port });
  const container = await reachable.start();
  const { container: containers } = await getContainerRuntimeClient();
  const handle = containers.getById(container.getId());
  return new PeerContainer(port, { container, handle, folders: Object.values(folders) });
}

async function provide(command: DockerCommand, { image, make }: PeerOrder): Promise<void> {
  const isThere = (name: string): Promise<boolean> => succeeds(docker(command, 'image', 'inspect', name));
  if (await isThere(image)) return;
  if (await succeeds(docker(command, 'pull', '--quiet', image))) return;
  if (!(await isThere(MACHINE_BASE))) await makeBaseImage(command);
  await make(command);
}
