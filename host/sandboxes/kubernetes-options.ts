/**
 * What the Kubernetes runtime is told by a deployment.
 * Owns the way from the configuration to its options: which ways pods take, and which programs their image has.
 */
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KubernetesRuntimeOptions } from '../../runtimes/kubernetes/options.ts';
import type { HostSockets } from '../../runtimes/on-host/host-sockets.ts';
import { BOUND_PORTS, EGRESS_PORT } from '../../runtimes/on-host/inside-view.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';

/** Where an image of sandboxes has the programs of Parley; chart/images/ builds one. */
const IMAGE_DIR = '/opt/parley';
const AGENT_PROGRAMS = { reference: 'agent-server.cjs', openhands: 'agent-openhands.cjs' } as const;

/** What every runtime is told. */
export interface CommonOptions {
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
