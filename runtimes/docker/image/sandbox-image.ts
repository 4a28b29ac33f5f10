/**
 * The image that containers are made of.
 * Owns making sure that the daemon has it: made of this host's programs, or a user's by digest.
 */
import { statSync } from 'node:fs';
import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { ParleyError } from '../../../core/parley-error.ts';
import { SYSTEM_PATH } from '../../on-host/inside-view.ts';
import { digest } from '../../on-host/sandbox-place.ts';
import { tarMembers } from '../../workspace-archive/tar-members.ts';
import { containerUser } from '../container-user.ts';
import { unless, type DockerDaemon } from '../docker-daemon.ts';
import { HOST_IMAGE } from '../options.ts';
import { collectFiles, foundPrograms } from './host-files.ts';
import { IMAGE_NODE, imageEntries } from './image-entries.ts';

const REPOSITORY = 'parley-sandbox';
/** Part of the tag: another layout is another image. */
const LAYOUT = 1;
const TAG_DIGITS = 12;

export interface SandboxImage {
  /** As the daemon names it. */
  readonly reference: string;
  readonly node: string;
  readonly searchPath: string;
}

/** @throws ParleyError runtime_failed: there is no such image, or none can be made; runtime_unreachable */
export async function ensureImage(daemon: DockerDaemon, wanted: string): Promise<SandboxImage> {
  if (wanted === HOST_IMAGE) return await ensureHostImage(daemon);
  const found = (await inspected(daemon, wanted)) ?? (await pulled(daemon, wanted));
  const path = found.Config.Env?.find((line) => line.startsWith('PATH='))?.slice('PATH='.length);
  return { reference: wanted, node: 'node', searchPath: path ?? SYSTEM_PATH };
}

async function ensureHostImage(daemon: DockerDaemon): Promise<SandboxImage> {
  const programs = foundPrograms();
  const tag = tagOf(programs);
  const reference = `${REPOSITORY}:${tag}`;
  const image = {
    reference,
    node: IMAGE_NODE,
    searchPath: `${IMAGE_NODE.slice(0, -'/node'.length)}:${SYSTEM_PATH}`,
  };
  if ((await inspected(daemon, reference)) !== null) return image;
  const key = `${daemon.socketPath} ${reference}`;
  const making = inTheMaking.get(key) ?? makeImage(daemon, { tag, programs });
  inTheMaking.set(key, making);
  await making.finally(() => inTheMaking.delete(key));
  return image;
}

/** Sandboxes that are started at once wait for the same image. */
const inTheMaking = new Map<string, Promise<void>>();

interface Making {
  readonly tag: string;
  readonly programs: readonly string[];
}

async function makeImage(daemon: DockerDaemon, { tag, programs }: Making): Promise<void> {
  const members = tarMembers(imageEntries(await collectFiles(programs)));
  await daemon.ask(`make the image "${REPOSITORY}:${tag}"`, async (docker) => {
    const archive = Readable.from(members, { objectMode: false });
    await finished(docker, await docker.importImage(archive, { repo: REPOSITORY, tag }));
  });
}

/** Changes with whatever the image is made of: Node.js, the programs, and the system's libraries. */
function tagOf(programs: readonly string[]): string {
  const looks = [process.execPath, '/etc/ld.so.cache', ...programs].map((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return `${path} ${stat?.size ?? 0} ${stat?.mtimeMs ?? 0}`;
  });
  const { uid, gid } = containerUser();
  return digest([LAYOUT, process.version, uid, gid, ...looks].join('\n'), TAG_DIGITS);
}

async function inspected(daemon: DockerDaemon, reference: string): Promise<Docker.ImageInspectInfo | null> {
  return await daemon.ask(`look at the image "${reference}"`, (docker) =>
    unless([404], docker.getImage(reference).inspect()),
  );
}

async function pulled(daemon: DockerDaemon, reference: string): Promise<Docker.ImageInspectInfo> {
  const remedy = 'pull or load it on this host, or set runtime.docker.image to "host"';
  const fail = (reason: string, cause?: unknown): ParleyError =>
    new ParleyError('runtime_failed', `Cannot use the image "${reference}": ${reason}; ${remedy}`, { cause });
  if (reference.startsWith('sha256:')) throw fail('the daemon does not have it');
  try {
    await daemon.ask(`pull the image "${reference}"`, async (docker) => {
      await finished(docker, (await docker.pull(reference)) as NodeJS.ReadableStream);
    });
  } catch (error) {
    throw fail('the daemon does not have it and could not pull it', error);
  }
  const found = await inspected(daemon, reference);
  if (found === null) throw fail('the daemon does not have it');
  return found;
}

/** The daemon answers 200 first and reports failures in the stream. */
function finished(docker: Docker, stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null, output: readonly { readonly error?: string }[]) => {
        const told = output?.find((line) => line.error !== undefined)?.error;
        if (error !== null && error !== undefined) reject(error);
        else if (told !== undefined) reject(new Error(told));
        else resolve();
      },
    );
  });
}
