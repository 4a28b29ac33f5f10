/**
 * The two images of the chart, built by a real daemon from a base that is made of this machine, as archives.
 * Owns their names; the daemon is ended before a cluster needs the memory.
 */
import path from 'node:path';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { docker, MACHINE_BASE, makeBaseImage } from '../../scripts/machine-images.ts';
import type { DockerCommand } from '../../scripts/machine-images.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

export const IMAGES = {
  parley: 'parley.test/parley:1',
  sandbox: 'parley.test/sandbox:1',
} as const;

/** Image → archive of `docker save` in that folder. */
export async function buildImages(folder: string): Promise<ReadonlyMap<string, string>> {
  const socket = dockerSocket();
  const command: DockerCommand = {
    socket,
    env: { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' },
  };
  const archives = new Map<string, string>();
  try {
    await makeBaseImage(command);
    for (const [recipe, image] of Object.entries(IMAGES)) {
      const file = ['--file', `${ROOT}/chart/images/${recipe}/Containerfile`, '--tag', image];
      const network = ['--network', 'host', '--build-arg', `BASE_IMAGE=${MACHINE_BASE}`];
      await docker(command, 'build', ...network, ...file, ROOT);
      const archive = path.join(folder, `${recipe}.tar`);
      await docker(command, 'save', '--output', archive, image);
      archives.set(image, archive);
    }
  } finally {
    await closeDaemon();
  }
  return archives;
}
