/**
 * Where collected results and reports go: `out/<run>/<key>/…` on a laptop.
 * Owns the interface; names are plain relative paths without `..`.
 */
import type { RunId } from '../core/ids.ts';

export interface Results {
  /**
   * Replaces the file whole or not at all; content that comes in pieces is written as it comes, and when it throws
   * nothing is replaced. `key` null is the run's own folder.
   */
  write(
    file: { readonly runId: RunId; readonly key: string | null; readonly name: string },
    content: Uint8Array | AsyncIterable<Uint8Array>,
  ): Promise<void>;
  /** Null when it does not exist. */
  read(file: {
    readonly runId: RunId;
    readonly key: string | null;
    readonly name: string;
  }): Promise<Uint8Array | null>;
  /** Every file of a run: paths below its folder, sorted. At most `countMax`. */
  names(runId: RunId, countMax: number): Promise<readonly string[]>;
  /** For a reader: where a run's results are. */
  location(runId: RunId): string;
}
