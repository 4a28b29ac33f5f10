/**
 * The runtime that the deployment chose.
 * Owns which implementation it is, and its options; must not decide anything else.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync, existsSync } from 'node:fs';
import { join, basename, extname } from 'node:path';
import { rootCertificates } from 'node:tls';
import { systemClock } from '../../engine/system-clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SandboxRuntime, SandboxLimits } from '../../ports/sandbox-runtime.ts';
import { loadDockerClient } from '../../runtimes/docker/docker-daemon.ts';
import { createDockerRuntime } from '../../runtimes/docker/docker-runtime.ts';
import { loadKubernetesClient } from '../../runtimes/kubernetes/cluster.ts';
import { createKubernetesRuntime } from '../../runtimes/kubernetes/kubernetes-runtime.ts';
import type { KubernetesRuntimeOptions } from '../../runtimes/kubernetes/options.ts';
import type { HostSockets } from '../../runtimes/on-host/host-sockets.ts';
import { BOUND_PORTS, EGRESS_PORT } from '../../runtimes/on-host/inside-view.ts';
import { createProcessRuntime } from '../../runtimes/process/process-runtime.ts';
import { installedAgents } from './installed-agents.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { builtProgram, type Places } from './places.ts';

export interface RuntimeParts {
  readonly config: DeploymentConfig;
  readonly places: Places;
  readonly warn: (text: string) => void;
}

/** A missing client shows before the first sandbox is requested. @throws Error its package is not installed */
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

/** Where systems keep the authorities of the public; what an administrator added to them holds inside as well. */
const SYSTEM_BUNDLES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];

/** The path of the file; null where the deployment names none. */
export function writeAuthorities(named: string | null, file: string): string | null {
  if (named === null) return null;
  const bundle = SYSTEM_BUNDLES.find((path) => existsSync(path));
  const system = bundle === undefined ? rootCertificates.join('\n') : readFileSync(bundle, 'utf8');
  writeFileSync(file, `${system.trimEnd()}\n${named.trimEnd()}\n`, { mode: 0o644 });
  return file;
}

/** Where an image of sandboxes has the programs of Parley; chart/images/ builds one. */
const IMAGE_DIR = '/opt/parley';
const AGENT_PROGRAMS = { reference: 'agent-server.cjs', openhands: 'agent-openhands.cjs' } as const;

/** Options that every runtime has. */
interface CommonOptions {
  readonly hostSockets: HostSockets;
  readonly egressSocket: string | null;
  readonly limits: SandboxLimits;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}

export function kubernetesOptions(common: CommonOptions, config: DeploymentConfig): KubernetesRuntimeOptions {
  const { kubernetes, agent } = config;
  const { service, pullSecret } = kubernetes;
  const { hostSockets, egressSocket, limits, clock, warn } = common;
  return {
    kubeconfig: kubernetes.kubeconfig,
    context: kubernetes.context,
    namespace: kubernetes.namespace,
    installation: kubernetes.installation,
    image: kubernetes.image,
    imagePullSecrets: pullSecret === null ? [] : [pullSecret],
    storageClass: kubernetes.storageClass,
    runtimeClass: kubernetes.runtimeClass,
    podSecurity: kubernetes.podSecurity,
    splitsTools: agent.kind === 'reference',
    programs: {
      agentServer: `${IMAGE_DIR}/${AGENT_PROGRAMS[agent.kind]}`,
      sandboxInit: `${IMAGE_DIR}/sandbox-init.cjs`,
      workspaceReader: `${IMAGE_DIR}/workspace-reader.cjs`,
    },
    routes: {
      proxy: `${service}:${BOUND_PORTS.proxy}`,
      webhook: `${service}:${BOUND_PORTS.webhook}`,
      git: `${service}:${BOUND_PORTS.git}`,
      egress: egressSocket === null ? null : `${service}:${EGRESS_PORT}`,
    },
    gates: { listen: kubernetes.listen, hostSockets, egressSocket },
    requests: { memoryBytes: kubernetes.memoryRequestBytes, cpus: kubernetes.cpuRequest },
    limits,
    clock,
    warn,
  };
}

/** What V8 has compiled of a program lies beside it (scripts/keep-compiled.js). */
const COMPILED_SUFFIX = '.compiled';

/** Its path there; a program that lies there already stays where it is. */
export function sharedProgram(program: string, { dataDir }: Pick<Places, 'dataDir'>): string {
  const folder = join(dataDir, 'programs');
  if (program.startsWith(`${folder}/`)) return program;
  const text = readFileSync(program);
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const extension = extname(program);
  const target = join(folder, `${basename(program, extension)}-${mark}${extension}`);
  mkdirSync(folder, { recursive: true });
  // First what stands beside it: a sandbox that sees the program sees both.
  const compiled = `${program}${COMPILED_SUFFIX}`;
  if (existsSync(compiled)) put(`${target}${COMPILED_SUFFIX}`, readFileSync(compiled));
  put(target, text);
  return target;
}

/** Written aside and renamed: a container that starts meanwhile binds all of it. */
function put(file: string, content: Buffer): void {
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, content, { mode: 0o644 });
  renameSync(aside, file);
}
