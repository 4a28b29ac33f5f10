/**
 * Where sandboxes come from.
 * Owns the interface every runtime implements; one contract suite runs against all of them.
 * A runtime knows nothing of lifecycle rules: it starts, stops, destroys and reports what it sees.
 * Beside the six calls every runtime has, `freezer` and `removeLeftovers` exist where `capabilities` says so; `limits`,
 * `resume`, `export` and `survivesRestart` of the capabilities and `cause` of a crash are what the suite reads.
 */
import type { SandboxId } from '../core/ids.ts';

/**
 * How well a limit holds: `sandbox`, the kernel holds it for the sandbox as a whole; `process`, the kernel holds it
 * for each process by itself; `watched`, its use is polled, and a sandbox that is over it is ended; `none`.
 */
export type LimitStrength = 'sandbox' | 'process' | 'watched' | 'none';

/** What a runtime may be able to bound. */
export type LimitName = 'memory' | 'processes' | 'cpu' | 'fileSize' | 'workspace';

/** What a runtime can do; published, so that no caller finds out by failing. */
export interface RuntimeCapabilities {
  readonly kind: string;
  /** `none` means a plain process: it separates nothing. */
  readonly isolation: 'namespaces' | 'container' | 'virtual_machine' | 'none';
  /**
   * Whether the tools of an agent are kept from their Agent Server: `apart`, they can neither signal nor trace it, nor
   * reach its socket and state; `beside`, they can do to it whatever it can do itself.
   */
  readonly tools: 'apart' | 'beside';
  /** What a pause keeps: `files` stops every process (D6); `memory` freezes them. */
  readonly pause: readonly ('files' | 'memory')[];
  /**
   * How long a resume takes, by what the pause kept: `boot`, as long as a first start; `thaw`, some milliseconds.
   * Null where there is no such pause.
   */
  readonly resume: { readonly files: 'boot'; readonly memory: 'thaw' | null };
  readonly egress: 'none' | 'allow_list' | 'open';
  readonly limits: Readonly<Record<LimitName, LimitStrength>>;
  /** `always`: an export works while the sandbox is up and while it is stopped. */
  readonly export: 'always' | 'stopped';
  /** Whether sandboxes go on when our process ends, and are found again. */
  readonly survivesRestart: boolean;
}

/** Bounds of every sandbox of a runtime; null sets none. */
export interface SandboxLimits {
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  /** Processors' worth of time: 0.5 is half of one. */
  readonly cpus: number | null;
  /** The largest single file. */
  readonly fileBytes: number | null;
  /** Everything the sandbox keeps on disk together. */
  readonly workspaceBytes: number | null;
}

/** Why an incarnation ended by itself, as far as it is known. */
export type CrashCause =
  /** Its program ended, with that code; null when it was not seen. */
  | { readonly kind: 'exit'; readonly exitCode: number | null }
  /** The kernel ended it because its memory was used up. */
  | { readonly kind: 'out_of_memory' }
  /** It kept more on disk than it may, and was ended; `bound` is absent where a runtime does not report which. */
  | { readonly kind: 'disk_limit'; readonly bound?: DiskBound };

/** Bytes or files of its own; the last files of a file system; files where it makes its socket. */
export type DiskBound = 'bytes' | 'files' | 'file_system' | 'socket_folder';

/** How the outside reaches what runs inside, and how the inside reaches us. */
export interface SandboxAddress {
  readonly sandboxId: SandboxId;
  readonly generation: number;
  /** Agent Server of this incarnation: a unix socket path or a loopback URL. */
  readonly agent: { readonly socketPath: string } | { readonly url: string };
  /** Addresses as seen from inside the sandbox, without a trailing slash. */
  readonly routes: { readonly proxyUrl: string; readonly webhookUrl: string; readonly gitUrl: string };
  /** Absolute path of the workspace as seen from inside. */
  readonly workspaceDir: string;
}

/** One incarnation of a sandbox, to be started. */
export interface StartSandboxRequest {
  readonly sandboxId: SandboxId;
  /** Every incarnation has one, counted from 1; a start with an older one than seen is refused (D14). */
  readonly generation: number;
  /** Key the Agent Server of this incarnation accepts. Travels by environment, never by argument. */
  readonly sessionKey: string;
  /** Epoch milliseconds by which the Agent Server must answer. */
  readonly deadline: number;
}

/** What a runtime knows of one sandbox: an answer, a definite absence, or nothing at all (D13). */
export type RuntimePresence =
  | {
      readonly kind: 'up';
      readonly generation: number;
      readonly address: SandboxAddress;
      /** True while it is frozen: connections are taken and not answered. */
      readonly isFrozen?: boolean;
    }
  | {
      readonly kind: 'stopped';
      readonly generation: number;
      /** True when its host took it away, and no command of ours caused that. */
      readonly isEvicted?: boolean;
    }
  /** `reason` is for people and holds the last output; `cause` is absent where a runtime does not report it. */
  | {
      readonly kind: 'crashed';
      readonly generation: number;
      readonly reason: string;
      readonly cause?: CrashCause;
    }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * Pause with memory: every process of an incarnation stands still, and goes on where it was.
 * Both calls are idempotent. A stop or a removal of a frozen sandbox works as of any other.
 */
export interface RuntimeFreezer {
  /** @throws ParleyError runtime_gone (nothing is up), stale_generation, runtime_unreachable */
  freeze(target: { readonly sandboxId: SandboxId; readonly generation: number }): Promise<void>;
  /** @throws ParleyError as `freeze` */
  thaw(target: { readonly sandboxId: SandboxId; readonly generation: number }): Promise<void>;
}

/** What every runtime does; each call may be repeated. */
export interface SandboxRuntime {
  readonly capabilities: RuntimeCapabilities;
  /** Present exactly when `capabilities.pause` has `memory`. */
  readonly freezer?: RuntimeFreezer;
  /**
   * Removes what belongs to no sandbox that the runtime holds: sockets, control groups, half-made things.
   * Resolves with one line for each. Never touches a sandbox. @throws ParleyError runtime_unreachable
   */
  removeLeftovers?(): Promise<readonly string[]>;
  /**
   * Opens the ways by which sandboxes reach this process, also those that others have started; where it is absent they are
   * open with each sandbox. A repeat changes nothing. @throws ParleyError runtime_failed
   */
  openWays?(): Promise<void>;
  /**
   * Brings an incarnation up and waits until its Agent Server answers. First start and resume are the same call:
   * storage that exists is used again. Idempotent by (sandboxId, generation); an older incarnation still up is stopped first.
   * @throws ParleyError runtime_failed (definite, reason in `message`), runtime_unreachable (nothing known),
   *   stale_generation (a newer incarnation exists)
   */
  start(request: StartSandboxRequest): Promise<SandboxAddress>;
  /**
   * Stops an incarnation and keeps its files. Already stopped, or gone, is success.
   * @throws ParleyError runtime_unreachable, stale_generation
   */
  stop(target: { readonly sandboxId: SandboxId; readonly generation: number }): Promise<void>;
  /** Stops whatever is up and removes all storage. Gone is success. @throws ParleyError runtime_unreachable */
  destroy(sandboxId: SandboxId): Promise<void>;
  /** Never throws: a sandbox that cannot be queried is `unknown`. */
  inspect(sandboxId: SandboxId): Promise<RuntimePresence>;
  /** Every sandbox of this installation that the runtime holds, up or stopped. @throws ParleyError runtime_unreachable */
  list(): Promise<
    readonly { readonly sandboxId: SandboxId; readonly generation: number; readonly up: boolean }[]
  >;
  /**
   * The workspace as a gzipped tar, read from outside, also when stopped. Symbolic links are kept, never followed.
   * @throws ParleyError workspace_unreadable, runtime_gone
   */
  exportWorkspace(sandboxId: SandboxId): AsyncIterable<Uint8Array>;
}
