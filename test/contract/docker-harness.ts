/**
 * The Docker runtime set up for a test, over the daemon of its file.
 * Owns its directories and a real clock; one place for every Docker test.
 */
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { dockerDaemon } from '../../runtimes/docker/docker-daemon.ts';
import { createDockerRuntime } from '../../runtimes/docker/docker-runtime.ts';
import { ensureImage } from '../../runtimes/docker/image/sandbox-image.ts';
import type { DockerRuntimeOptions } from '../../runtimes/docker/options.ts';
import { sandboxPlace } from '../../runtimes/on-host/sandbox-place.ts';
import { closeDaemon, dockerSocket } from '../../scripts/docker-daemon.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { bundleProgram } from './process-harness.ts';
import { realClock } from './real-clock.ts';
import type { RuntimeHarness } from './runtime-suite.ts';

const STAND_IN = { name: 'stand-in-agent', source: 'test/contract/stand-in-agent.ts' };

export interface DockerHarness extends RuntimeHarness {
  readonly options: DockerRuntimeOptions;
  readonly warnings: readonly string[];
}

afterAll(closeDaemon);

export async function createDockerHarness(
  given: Partial<DockerRuntimeOptions> = {},
  agentSource: { readonly name: string; readonly source: string } = STAND_IN,
): Promise<DockerHarness> {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'dr-')));
  const hostDir = path.join(dir, 'h');
  mkdirSync(hostDir);
  const warnings: string[] = [];
  const options: DockerRuntimeOptions = {
    dataDir: path.join(dir, 'data'),
    socketDir: path.join(dir, 's'),
    daemonSocket: dockerSocket(),
    image: 'host',
    splitsTools: true,
    programs: {
      agentServer: await bundleProgram(agentSource.name, agentSource.source),
      sandboxInit: await bundleProgram('sandbox-init', 'runtimes/process/inside/init.ts'),
    },
    hostSockets: {
      proxy: path.join(hostDir, 'p', 'proxy.sock'),
      webhook: path.join(hostDir, 'w', 'webhook.sock'),
      git: path.join(hostDir, 'g', 'git.sock'),
    },
    clock: realClock,
    warn: (text) => warnings.push(text),
    ...given,
  };
  // Made once for the daemon; no start has to wait for it within its deadline.
  await ensureImage(dockerDaemon(options.daemonSocket), 'host');
  return {
    options,
    warnings,
    runtime: createDockerRuntime(options),
    reopen: () => createDockerRuntime(options),
    workspaceOf: (id) => sandboxPlace(options, id).workspace,
    close: () => Promise.resolve(removeDir(dir)),
  };
}
