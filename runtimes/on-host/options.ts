/**
 * What the deployment sets of every runtime of this host.
 * Owns the shape; the checks are beside the code that needs them.
 */
import type { Clock } from '../../ports/clock.ts';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import type { HostSockets } from './host-sockets.ts';

export interface HostRuntimeOptions {
  /** Absolute, as the host has it; holds `sandboxes/<id>/` with workspace, agent state, record and log of each sandbox. */
  readonly dataDir: string;
  /** Absolute and short: socket paths have at most 107 bytes. Holds one directory of mode 0700 per sandbox. */
  readonly socketDir: string;
  /** Absolute paths of programs in one file each, run by Node.js: that which runs us, or the image's. */
  readonly programs: { readonly agentServer: string; readonly sandboxInit: string };
  /** Whether this Agent Server can be another user than its tools, as ours can; OpenHands' own cannot. */
  readonly splitsTools?: boolean;
  /**
   * Unix sockets of the host. They may appear, and be replaced, at any time, so their directories are bound into
   * every sandbox, read-only: such a directory must hold nothing else, and be neither `socketDir` nor `dataDir`. The user
   * of containers must be able to connect to them; see `containerUser`.
   */
  readonly hostSockets: HostSockets;
  /**
   * Unix socket of the egress proxy, in a directory like those of `hostSockets`. Null: nothing but the host sockets is
   * reachable. A plain process reaches everything, with or without it.
   */
  readonly egressSocket?: string | null;
  /** Absolute path of the authorities that programs inside trust, in PEM; null: their own. */
  readonly authorities?: string | null;
  /** What is absent is bounded as `DEFAULT_LIMITS` says. */
  readonly limits?: Partial<SandboxLimits>;
  /** Files and folders that one sandbox may keep; absent: `SANDBOX_FILES_MAX`. */
  readonly filesMax?: number;
  /** Milliseconds between two measurements of what sandboxes keep on disk. */
  readonly diskLookMs?: number;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}
