/**
 * What the deployment sets of the process runtime.
 * Owns the shape; the checks are beside the code that needs them.
 */
import type { HostRuntimeOptions } from '../on-host/options.ts';

export interface SharedTool {
  /** Of a folder: `[a-z0-9-]`. */
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
}

export interface ProcessRuntimeOptions extends HostRuntimeOptions {
  /** `auto` takes namespaces where they work and warns where they do not. */
  readonly isolation: 'auto' | 'namespaces' | 'none';
  /** Absolute folders of the host that sandboxes see at the same path, and cannot write. */
  readonly sharedFolders?: readonly string[];
  /**
   * Tools that sandboxes find on their search path, read for each launch. A folder has its programs in `bin/`, and is
   * seen read-only; a running sandbox keeps the folders that it began with.
   */
  readonly tools?: () => readonly SharedTool[];
  /** `auto` uses control groups where they can be made; `none` leaves limits to what a process can bear by itself. */
  readonly controlGroups?: 'auto' | 'none';
}
