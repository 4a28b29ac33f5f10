/**
 * The images of a deployment on a cluster, as archives: the two of the chart, built by a real daemon from a base that is
 * made of this machine, and PostgreSQL and Temporal where they are needed.
 * Owns their names; the daemon is ended before a cluster needs the memory. `PARLEY_CLUSTER_IMAGES=FOLDER` keeps the
 * archives there and uses those it finds, for developers who change these tests and not the program.
 */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { installedComposeTools } from '../../scripts/compose-tools.js';
import {
  docker,
  MACHINE_BASE,
  makeBaseImage,
  makePostgresImage,
  makeTemporalImage,
} from '../../scripts/machine-images.ts';
import type { DockerCommand } from '../../scripts/machine-images.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

export const IMAGES = {
  base: `docker.io/library/${MACHINE_BASE}`,
  parley: 'parley.test/parley:1',
  /** Made of a later commit, as it says of itself. */
  later: 'parley.test/parley:2',
  sandbox: 'parley.test/sandbox:1',
  postgres: 'parley.test/postgres:1',
  temporal: 'parley.test/temporal:1',
} as const;

/** Commit of the image `later`. */
export const LATER = '1a7e'.repeat(10);

export type ImageName = keyof typeof IMAGES;
/** Archive of `docker save` for each. */
export type Archives = ReadonlyMap<ImageName, string>;

/** Into that folder. */
export async function buildImages(names: readonly ImageName[], folder: string): Promise<Archives> {
  const kept = process.env['PARLEY_CLUSTER_IMAGES'] ?? folder;
  mkdirSync(kept, { recursive: true });
  const archives = new Map(names.map((name) => [name, path.join(kept, `${name}.tar`)] as const));
  const missing = [...archives].filter(([, archive]) => !existsSync(archive));
  if (missing.length === 0) return archives;
  const socket = dockerSocket();
  const command: DockerCommand = {
    socket,
    env: { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' },
  };
  try {
    await makeBaseImage(command);
    for (const [name, archive] of missing) {
      await BUILDS[name](command);
      const image = name === 'base' ? MACHINE_BASE : IMAGES[name];
      await docker(command, 'save', '--output', archive, image);
    }
  } finally {
    await closeDaemon();
  }
  return archives;
}

const BUILDS: Readonly<Record<ImageName, (command: DockerCommand) => Promise<void>>> = {
  base: () => Promise.resolve(),
  parley: (command) => buildRecipe(command, 'parley'),
  later: (command) => buildRecipe(command, 'later', '--build-arg', `ORIGIN=${LATER} 2030-01-01T00:00:00Z`),
  sandbox: (command) => buildRecipe(command, 'sandbox'),
  postgres: (command) => makePostgresImage(command, IMAGES.postgres),
  temporal: async (command) => {
    const tools = installedComposeTools(process.env);
    if (tools === null) throw new Error('Cannot make the image of Temporal: its programs are not installed');
    await makeTemporalImage(command, { image: IMAGES.temporal, tools });
  },
};

async function buildRecipe(
  command: DockerCommand,
  name: 'parley' | 'later' | 'sandbox',
  ...options: readonly string[]
): Promise<void> {
  const recipe = name === 'sandbox' ? 'sandbox' : 'parley';
  const file = ['--file', `${ROOT}/chart/images/${recipe}/Containerfile`, '--tag', IMAGES[name]];
  const network = ['--network', 'host', '--build-arg', `BASE_IMAGE=${MACHINE_BASE}`];
  await docker(command, 'build', ...network, ...options, ...file, ROOT);
}
