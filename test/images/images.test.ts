/**
 * The images of chart/images/, built by a real daemon from a base that is made of this machine, and started as they are
 * shipped: as no user that the image knows, on a read-only root, without a network; and temporal-compose.yml with them.
 */
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { installedComposeTools } from '../../scripts/compose-tools.js';
import {
  docker,
  MACHINE_BASE,
  makeBaseImage,
  makePostgresImage,
  makeTemporalImage,
  makeUiImage,
  type DockerCommand,
} from '../../scripts/machine-images.ts';
import { describeWith } from '../helpers/requires.ts';
import { imageOf } from './compose-stack.ts';
import { shippedCompose } from './shipped-compose.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PARLEY = imageOf('worker');
const SANDBOX = 'parley-test-sandbox:1';
/** What the image may add to its base. */
const BYTES_MAX = 200e6;
/** What the programs load of packages only when they are asked for that engine, runtime or store. */
const LOADED_LATE = [
  ...['@temporalio/worker', '@temporalio/client', '@temporalio/activity', 'dockerode'],
  ...['@kubernetes/client-node', 'pg', 'libsql', 'fastify'],
];
/** As the chart and temporal-compose.yml start a container. */
const SHIPPED = ['--rm', '--read-only', '--network', 'none', '--cap-drop', 'ALL', '--tmpfs', '/tmp'];

describeWith('dockerd', 'images', () => {
  let command: DockerCommand;
  const inspected = async (image: string, format: string): Promise<string> =>
    (await docker(command, 'image', 'inspect', '--format', format, image)).trim();

  beforeAll(async () => {
    const socket = dockerSocket();
    // The builder that every daemon has; recipes ask for nothing of a newer one.
    command = { socket, env: { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' } };
    await makeBaseImage(command);
    for (const [recipe, tag] of [
      ['parley', PARLEY],
      ['sandbox', SANDBOX],
    ] as const) {
      const file = ['--file', `${ROOT}/chart/images/${recipe}/Containerfile`, '--tag', tag];
      const network = ['--network', 'host', '--build-arg', `BASE_IMAGE=${MACHINE_BASE}`];
      await docker(command, 'build', ...network, ...file, ROOT);
    }
  }, 1_800_000);
  afterAll(closeDaemon);

  it('adds at most 200 MB to its base', async () => {
    const [whole, base] = [await inspected(PARLEY, '{{.Size}}'), await inspected(MACHINE_BASE, '{{.Size}}')];
    expect(Number(whole) - Number(base)).toBeLessThanOrEqual(BYTES_MAX);
  });

  it.each([PARLEY, SANDBOX])('%s runs as user 10001 unless it is told another', async (image) => {
    expect(await inspected(image, '{{.Config.User}}')).toBe('10001:10001');
  });

  it('runs on a read-only root as a user that it does not know', async () => {
    const said = await docker(
      command,
      'run',
      ...SHIPPED,
      '--user',
      '12345:12345',
      PARLEY,
      'config',
      'explain',
    );
    expect(said).toContain('store.path');
  });

  it('has every package that is loaded late, and none that only builds or tests', async () => {
    const script = `(async () => {
      for (const name of ${JSON.stringify(LOADED_LATE)}) await import(name);
      console.log(require('fs').readdirSync('node_modules').join(' '));
    })()`;
    const said = await docker(
      command,
      ...['run', ...SHIPPED, '--workdir', '/opt/parley', '--entrypoint', 'node', PARLEY, '-e', script],
    );
    const words = said.split(/\s/);
    expect(words).toContain('fastify');
    for (const name of ['vitest', 'typescript', 'esbuild', 'eslint', 'prettier', 'vite'])
      expect(words).not.toContain(name);
  });

  it('has the programs of a sandbox, and Node.js and Git for them', async () => {
    const script =
      'node --check /opt/parley/sandbox-init.cjs && git --version && ls /opt/parley /workspace /agent';
    const said = await docker(command, 'run', ...SHIPPED, '--entrypoint', 'sh', SANDBOX, '-c', script);
    for (const name of [
      'agent-server.cjs',
      'agent-server.cjs.compiled',
      'workspace-reader.cjs',
      'git version',
    ])
      expect(said).toContain(name);
  });

  describeWith('compose-local', 'temporal-compose.yml', () => {
    shippedCompose(async () => {
      const tools = installedComposeTools(process.env);
      if (tools === null) throw new Error('Cannot start the stack: its programs are not installed');
      await makePostgresImage(command, imageOf('postgresql'));
      await makeTemporalImage(command, { image: imageOf('temporal'), tools });
      await makeUiImage(command, { image: imageOf('temporal-ui'), tools });
      return { command, tools, sandboxImage: await inspected(SANDBOX, '{{.Id}}') };
    });
  });
});
