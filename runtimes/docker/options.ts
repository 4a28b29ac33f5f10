/**
 * What the Docker runtime is told by the deployment.
 * Owns the shape; the checks are beside the code that needs them.
 */
import type { Clock } from '../../ports/clock.ts';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import type { HostSockets } from '../on-host/host-sockets.ts';

/** Stands for the image that is made of this host's own programs. */
export const HOST_IMAGE = 'host';

export interface DockerRuntimeOptions {
  /** Absolute, on the host of the daemon; holds `sandboxes/<id>/` with workspace, agent state and record of each. */
  readonly dataDir: string;
  /** Absolute and short: socket paths have at most 107 bytes. Holds one directory of mode 0700 per sandbox. */
  readonly socketDir: string;
  /** Unix socket of the daemon. */
  readonly daemonSocket: string;
  /** `host`, or an image by digest: `NAME@sha256:…` or `sha256:…`; it must have `sh` and `node`. */
  readonly image: string;
  /** Absolute paths of programs in one file each, run by the image's Node.js. */
  readonly programs: { readonly agentServer: string; readonly sandboxInit: string };
  /** Whether that server can be another user than its tools; OpenHands' own cannot. */
  readonly splitsTools?: boolean;
  /**
   * Unix sockets of the host. They may appear, and be replaced, at any time, so their directories are bound into
   * every sandbox, read-only: such a directory must hold nothing else. The user of the containers must be able to
   * connect to them; see `containerUser`.
   */
  readonly hostSockets: HostSockets;
  /** Unix socket of the egress proxy, in a directory like those of `hostSockets`; null: there is no way out. */
  readonly egressSocket?: string | null;
  /** Absolute path of the authorities that programs inside trust, in PEM; null: their own. */
  readonly authorities?: string | null;
  /** What is absent is bounded as `DEFAULT_LIMITS` says. */
  readonly limits?: Partial<SandboxLimits>;
  /** Files and folders that one sandbox may keep; absent: `SANDBOX_FILES_MAX`. */
  readonly filesMax?: number;
  /** Milliseconds between two looks at what sandboxes keep on disk. */
  readonly diskLookMs?: number;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}
