/**
 * Where sandboxes come from.
 * Owns the interface every runtime implements; one contract suite runs against all of them.
 * A runtime knows nothing of lifecycle rules: it starts, stops, destroys and tells what it sees.
 */
import type { SandboxId } from '../core/ids.ts';

/** What a runtime can do; published, so that nobody finds out by failing. */
export interface RuntimeCapabilities {
  readonly kind: string;
  /** `none` means a plain process: it separates nothing. */
  readonly isolation: 'namespaces' | 'container' | 'virtual_machine' | 'none';
  /** What a pause keeps: `files` stops every process (D6); `memory` freezes them. */
  readonly pause: readonly ('files' | 'memory')[];
  readonly egress: 'none' | 'allow_list' | 'open';
}

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
  | { readonly kind: 'up'; readonly generation: number; readonly address: SandboxAddress }
  | { readonly kind: 'stopped'; readonly generation: number }
  | { readonly kind: 'crashed'; readonly generation: number; readonly reason: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface SandboxRuntime {
  readonly capabilities: RuntimeCapabilities;
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
  /** Never throws: what cannot be asked is `unknown`. */
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
