/**
 * What the compiler may read of the world beside the file; passed in, so that compiling stays pure.
 * Owns the interface; must not hold an implementation.
 */
import type { IssueQuery, IssueRow } from '../core/plan/plan-issue.ts';
import type { SecretReference } from '../core/plan/plan.ts';
import type { Hasher } from './plan/plan-text.ts';

/** Why a file is not read. */
export type FileProblem = 'missing' | 'directory' | 'special' | 'too_large' | 'binary';

/** The same in words, behind the name of the file. */
export const FILE_PROBLEM_WORDS: Readonly<Record<FileProblem, string>> = {
  missing: 'does not exist',
  directory: 'is a folder',
  special: 'is a pipe, a socket or a device',
  too_large: 'is too large',
  binary: 'is not text',
};

/** A text file, or why there is none. */
export type FileRead = { readonly text: string } | { readonly problem: FileProblem };

/** A data file in pieces of text or of its bytes, in order; the pieces are read while they are taken. */
export type RowsRead = { readonly chunks: Iterable<string | Uint8Array> } | { readonly problem: FileProblem };

/** A query to a code host, and whose credential it is sent with. */
export interface AskedIssues extends IssueQuery {
  /** Name of the job. */
  readonly job: string;
  /** Null: that of the code host. */
  readonly token: SecretReference | null;
}

/** Issues of a repository, or why there are none. */
export type IssuesRead =
  | {
      readonly rows: readonly IssueRow[];
      /** Issues that were left out because a run of the job has a result of them. */
      readonly doneCount: number;
    }
  | { readonly problem: string; readonly remedy: string | null };

/** What lies in a folder. `other` is no regular file and no folder, or a link that leads nowhere. */
export interface FolderEntry {
  readonly name: string;
  /** Of what a link leads to. */
  readonly kind: 'file' | 'folder' | 'other';
  readonly isLink: boolean;
}

/** What a folder holds, or why that cannot be read. */
export type FolderRead =
  { readonly entries: readonly FolderEntry[] } | { readonly problem: 'missing' | 'unreadable' };

/** Values of inputs: as typed on a command line, where everything is text, or as a file of values has them. */
export interface GivenInputs {
  readonly typed: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** All that compiling a job needs of the world beside its file. */
export interface JobWorld extends Hasher {
  /** Reads a text file by its path relative to the job file. Must not throw. */
  readFile(relativePath: string): FileRead;
  /** Reads a data file by its path relative to the job file; absent where there are none. Must not throw. */
  readRows?(relativePath: string): RowsRead;
  /**
   * Reads rows that conversations of an entry left among their results, in the order of the plan; `pending` while they
   * are not known, as is absent. Must not throw.
   */
  readStageRows?(entry: string, file: string): RowsRead | 'pending';
  /** What a code host answered; `pending` while it was not queried, as is absent. Must not throw. */
  readIssues?(query: AskedIssues): IssuesRead | 'pending';
  /** Lists a folder by its path relative to the job file, '' for its own, in any order; absent where there are none. Must not throw. */
  listFolder?(relativePath: string): FolderRead;
  /** Absent means that no values were requested: inputs without a default are left open, and there is no plan. */
  readonly inputs?: GivenInputs;
  /** Models the proxy lists; null or absent means they are not known, and nothing is checked. */
  readonly models?: readonly string[] | null;
  /** Whether a call of the model has a price; null or absent means it is not known, and nothing is checked. */
  hasPrice?(model: string): boolean | null;
  /** Whether a secret can be opened; absent means it is not checked. */
  secretExists?(reference: SecretReference): boolean;
}
