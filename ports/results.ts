/**
 * Where collected results and reports are: `out/<run>/<key>/…` on a laptop, a bucket where several machines work.
 * Owns the interfaces; names are plain relative paths without `..`.
 */
import type { RunId } from '../core/ids.ts';

/** Names one file of a run's results. */
export interface ResultName {
  readonly runId: RunId;
  /** Null is the run's own folder. */
  readonly key: string | null;
  readonly name: string;
}

/** One file, as a listing has it. */
export interface ResultFile {
  /** Relative to the folder that was asked about. */
  readonly name: string;
  readonly bytes: number;
}

/** What runs have made, by run, item and name. */
export interface Results {
  /**
   * Replaces the file whole or not at all. Content in chunks may be longer than the memory; an error while they are made
   * is passed on, and nothing is replaced.
   */
  write(file: ResultName, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>;
  /** Null when it does not exist. No further than `bytesMax`; all of it without. */
  read(file: ResultName, bytesMax?: number): Promise<Uint8Array | null>;
  /** Every file of a run, or of one item of it, sorted by name. At most `countMax`. */
  files(below: Omit<ResultName, 'name'>, countMax: number): Promise<readonly ResultFile[]>;
  /** Every file of a run: paths below its folder, sorted. At most `countMax`. */
  names(runId: RunId, countMax: number): Promise<readonly string[]>;
  /** For a reader: where a run's results are. */
  location(runId: RunId): string;
}

/** What was brought here, and what could not be. */
export interface Fetched {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Files whose names this machine does not take. */
  readonly left: readonly string[];
}

/** Results as this machine has them: wherever they live, as files of a folder when that is needed. */
export interface LocalResults extends Results {
  /** Folder of this machine for a run's results: where they live, or where copies of them go. */
  folder(runId: RunId): string;
  /** The files that are wanted, as files below that folder. Copies are made where they live elsewhere. */
  fetch(runId: RunId, isWanted: (name: string) => boolean): Promise<Fetched>;
}
