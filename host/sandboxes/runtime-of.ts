/**
 * The runtime that the deployment chose.
 * Owns which implementation it is, and what it is told; must not decide anything else.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../engine/system-clock.ts';
import type { SandboxRuntime } from '../../ports/sandbox-runtime.ts';
import { loadDockerClient } from '../../runtimes/docker/docker-daemon.ts';
import { createDockerRuntime } from '../../runtimes/docker/docker-runtime.ts';
import { loadKubernetesClient } from '../../runtimes/kubernetes/cluster.ts';
import { createKubernetesRuntime } from '../../runtimes/kubernetes/kubernetes-runtime.ts';
import { createProcessRuntime } from '../../runtimes/process/process-runtime.ts';
import { installedAgents } from './installed-agents.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { writeAuthorities } from './authorities.ts';
import { kubernetesOptions } from './kubernetes-options.ts';
import { builtProgram, type Places } from './places.ts';
import { sharedProgram } from './shared-program.ts';

export interface RuntimeParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly warn: (text: string) => void;
}

/** What it takes to have sandboxes is known before one is asked for. @throws Error its package is not installed */
export async function requireRuntimeClient({ runtimeKind }: DeploymentConfig): Promise<void> {
  switch (runtimeKind) {
    case 'process':
      return;
    case 'docker':
      await loadDockerClient();
      return;
    case 'kubernetes':
      await loadKubernetesClient();
  }
}

export function runtimeOf({ config, places, warn }: RuntimeParts): SandboxRuntime {
  const common = {
    dataDir: places.dataDir,
    socketDir: places.sandboxSockets,
    programs: {
      agentServer: agentProgram(config, places),
      sandboxInit: builtProgram('sandbox-init.cjs'),
    },
    hostSockets: { proxy: places.proxySocket, webhook: places.webhookSocket, git: places.gitSocket },
    egressSocket: config.egressAllow.length === 0 ? null : places.egressSocket,
    authorities: writeAuthorities(config.egressCa, places.authorities),
    limits: config.sandboxLimits,
    clock: systemClock,
    warn,
  };
  switch (config.runtimeKind) {
    case 'process':
      return createProcessRuntime({
        ...common,
        isolation: config.isolation,
        sharedFolders: config.sharedFolders,
        tools: () => installedAgents(places.dataDir),
        splitsTools: config.agent.kind === 'reference',
      });
    case 'docker':
      return createDockerRuntime({
        ...common,
        programs: {
          agentServer: sharedProgram(common.programs.agentServer, places),
          sandboxInit: sharedProgram(common.programs.sandboxInit, places),
        },
        daemonSocket: config.docker.socket,
        image: config.docker.image,
        splitsTools: config.agent.kind === 'reference',
      });
    case 'kubernetes':
      return createKubernetesRuntime(kubernetesOptions(common, config));
  }
}

/** Path of the program, in one file. */
function agentProgram({ agent }: DeploymentConfig, places: Places): string {
  switch (agent.kind) {
    case 'reference':
      return builtProgram('agent-server.cjs');
    case 'openhands':
      return withPython(agent.python, places);
    default:
      return agent.kind satisfies never;
  }
}

/** The program with the interpreter in front of it, written where sandboxes of this directory find it again. */
function withPython(python: string, { dataDir }: Places): string {
  const given = `globalThis.parleyOpenhandsPython = ${JSON.stringify(python)};\n`;
  const text = given + readFileSync(builtProgram('agent-openhands.cjs'), 'utf8');
  const folder = join(dataDir, 'programs');
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const file = join(folder, `agent-openhands-${mark}.cjs`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return file;
}
