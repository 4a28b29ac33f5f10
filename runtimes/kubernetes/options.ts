/**
 * What the deployment sets of the Kubernetes runtime.
 * Owns the shape; the checks are beside the code that needs them.
 */
import type { Clock } from '../../ports/clock.ts';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import type { HostSockets } from '../on-host/host-sockets.ts';

/** Levels of the cluster's own admission. */
export type PodSecurity = 'baseline' | 'restricted';

/** `HOST:PORT` of each way out, as this process and the pods resolve it; null: there is none. */
export interface PodRoutes {
  readonly proxy: string;
  readonly webhook: string;
  readonly git: string;
  readonly egress: string | null;
}

/** Where this process opens the ways that pods take; they lead to its own sockets. */
export interface RouteGates {
  /** Address the ports 4100 to 4103 are opened on. */
  readonly listen: string;
  readonly hostSockets: HostSockets;
  readonly egressSocket: string | null;
}

/** How much of a node is kept free for a sandbox; at most its limits. */
interface PodRequests {
  readonly memoryBytes: number | null;
  readonly cpus: number | null;
}

/** What a deployment says of its cluster. */
export interface KubernetesRuntimeOptions {
  /** Absolute path of a kubeconfig; null: the pod's own account, or the file that `kubectl` would read. */
  readonly kubeconfig: string | null;
  /** Context of that file; null: its current one. */
  readonly context: string | null;
  readonly namespace: string;
  /** Keeps installations in one namespace apart; at most 16 lower-case letters, digits and dashes. */
  readonly installation: string;
  /** Has `sh`, `node` and the programs below; never pulled under a name that may become another image unnoticed. */
  readonly image: string;
  /** Names of secrets of the namespace that open the registry. */
  readonly imagePullSecrets: readonly string[];
  /** Null: the cluster's default. */
  readonly storageClass: string | null;
  /** A sandboxed container runtime of the cluster; null: its default. */
  readonly runtimeClass: string | null;
  /** Absolute paths inside the image. */
  readonly programs: {
    readonly agentServer: string;
    readonly sandboxInit: string;
    readonly workspaceReader: string;
  };
  /** Whether that server can be another user than its tools; OpenHands' own cannot. */
  readonly splitsTools?: boolean;
  /** What the namespace admits: below `baseline` no process in a pod may begin as root, so none can change users. */
  readonly podSecurity?: PodSecurity;
  readonly routes: PodRoutes;
  /** Null: other processes serve all routes. */
  readonly gates: RouteGates | null;
  readonly requests: PodRequests;
  /** What is absent is bounded as `DEFAULT_LIMITS` says. */
  readonly limits?: Partial<SandboxLimits>;
  /** Milliseconds of one call to the API server. */
  readonly callTimeoutMs?: number;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}
