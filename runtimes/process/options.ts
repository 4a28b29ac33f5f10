/**
 * What the process runtime is told by the deployment.
 * Owns the shape; the checks are beside the code that needs them.
 */
import type { Clock } from '../../ports/clock.ts';
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';
import type { HostSockets } from '../on-host/host-sockets.ts';

export interface SharedTool {
  /** Of a folder: `[a-z0-9-]`. */
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
}

export interface ProcessRuntimeOptions {
  /** Absolute; holds `sandboxes/<id>/` with workspace, agent state, record and log of each sandbox. */
  readonly dataDir: string;
  /** Absolute and short: socket paths have at most 107 bytes. Holds one directory of mode 0700 per sandbox. */
  readonly socketDir: string;
  /** `auto` takes namespaces where they work and warns where they do not. */
  readonly isolation: 'auto' | 'namespaces' | 'none';
  /** Absolute paths of programs in one file each, run by the same Node.js that runs us. */
  readonly programs: { readonly agentServer: string; readonly sandboxInit: string };
  /** Whether this Agent Server makes a place of their own for its tools where it is given one, as ours does. */
  readonly splitsTools?: boolean;
  /**
   * Unix sockets of the host. They may appear, and be replaced, at any time, so their directories are bound into
   * every sandbox, read-only: such a directory must hold nothing else, and be neither `socketDir` nor `dataDir`.
   */
  readonly hostSockets: HostSockets;
  /**
   * Unix socket of the egress proxy, in a directory like those of `hostSockets`. Null: nothing but the host sockets is
   * reachable from a namespace. A plain process reaches everything, with or without it.
   */
  readonly egressSocket?: string | null;
  /** Absolute folders of the host that sandboxes see at the same path, and cannot write. */
  readonly sharedFolders?: readonly string[];
  /**
   * Tools that sandboxes find on their search path, looked up for each launch. A folder has its programs in `bin/`, and is
   * seen read-only; a running sandbox keeps the folders that it began with.
   */
  readonly tools?: () => readonly SharedTool[];
  /** Absolute path of the authorities that programs inside trust, in PEM; null: their own. */
  readonly authorities?: string | null;
  /** What is absent is bounded as `DEFAULT_LIMITS` says. */
  readonly limits?: Partial<SandboxLimits>;
  /** `auto` uses control groups where they can be made; `none` leaves limits to what a process can bear by itself. */
  readonly controlGroups?: 'auto' | 'none';
  /** Files and folders that one sandbox may keep; absent: `SANDBOX_FILES_MAX`. */
  readonly filesMax?: number;
  /** Milliseconds between two looks at what sandboxes keep on disk. */
  readonly diskLookMs?: number;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}
