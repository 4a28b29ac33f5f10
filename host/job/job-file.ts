/**
 * Reading a job file and the files it names.
 * Owns access to the disk; what the text says is the compiler's business.
 */
import { createHash, hash } from 'node:crypto';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  type Dirent,
} from 'node:fs';
import path from 'node:path';
import type { SecretReference } from '../../core/plan/plan.ts';
import { SOURCE_BYTES_MAX } from '../../dsl/read/decode-source.ts';
import type { Hasher } from '../../dsl/plan/plan-text.ts';
import type { FileRead, FolderEntry, FolderRead, GivenInputs, JobWorld, RowsRead } from '../../dsl/world.ts';
import { CliError } from '../cli-error.ts';
import { expectLongWork } from '../cold-start.ts';
import { EXIT } from '../exit-code.ts';
import type { Shell } from '../shell.ts';

/** Read whole for the compiler's own message; what is larger is refused unread. */
const READ_BYTES_MAX = 25 * SOURCE_BYTES_MAX;
/** A prompt is read by a model with a bounded context; a larger file is data. */
const PROMPT_BYTES_MAX = 1024 * 1024;

/** @throws CliError when there is no file to read */
export function readJobFile(file: string, cwd: string): Uint8Array {
  const absolute = path.resolve(cwd, file);
  try {
    const stats = statSync(absolute);
    if (stats.isDirectory())
      throw new CliError(`Cannot read job file "${file}": it is a folder`, NAME_A_FILE);
    if (stats.isCharacterDevice() || stats.isBlockDevice()) {
      throw new CliError(`Cannot read job file "${file}": it is a device`, NAME_A_FILE);
    }
    if (stats.size > READ_BYTES_MAX) {
      const size = `${Math.round(stats.size / 1024 / 1024)} MiB`;
      throw new CliError(`Cannot read job file "${file}": it has ${size}, and a job file at most 10 MiB`, {
        exitCode: EXIT.failed,
      });
    }
    return readFileSync(absolute);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`Cannot read job file "${file}": ${reasonOf(error)}`, NAME_A_FILE);
  }
}

/** The file as excerpts show it; one that is too large is not shown. */
export function shownText(bytes: Uint8Array | string): string {
  if (typeof bytes === 'string') return bytes;
  return bytes.byteLength > SOURCE_BYTES_MAX ? '' : new TextDecoder().decode(bytes);
}

const NAME_A_FILE = { remedy: 'name a job file; "parley init" writes a first one' };

/** Why a file could not be read, in words. */
export function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'access is denied';
    case 'EISDIR':
      return 'it is a folder';
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

export interface JobWorldOptions {
  readonly shell: Pick<Shell, 'cwd' | 'env'>;
  /** The job file; prompts are relative to its folder. */
  readonly file: string;
  readonly models: readonly string[] | null;
  /** Absent where nothing of the job is ever paid for. */
  readonly hasPrice?: (model: string) => boolean | null;
  /** Whether secrets must exist here: a run needs them, a check of the file does not. */
  readonly checksSecrets: boolean;
  /** Folder beyond which nothing is read, whatever the job names; absent where its author is the user. */
  readonly within?: string;
  /** Absent where no values were requested. */
  readonly inputs?: GivenInputs;
}

/** The files around a job, as the compiler reads them. */
export function jobWorld({
  shell,
  file,
  models,
  hasPrice,
  checksSecrets,
  inputs,
  within,
}: JobWorldOptions): JobWorld {
  const folder = path.dirname(path.resolve(shell.cwd, file));
  const reading =
    <Read>(read: (file: string) => Read) =>
    (relativePath: string): Read | { readonly problem: 'missing' } => {
      const absolute = path.resolve(folder, relativePath);
      return within === undefined || isWithin(absolute, within) ? read(absolute) : { problem: 'missing' };
    };
  return {
    readFile: reading((file) => readPrompt(file)),
    readRows: reading((file) => readRows(file)),
    listFolder: reading((file) => listFolder(file)),
    ...SHA256,
    models,
    ...(hasPrice === undefined ? {} : { hasPrice }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(checksSecrets ? { secretExists: (secret: SecretReference) => secretExists(secret, shell.env) } : {}),
  };
}

/** Also behind links; what is not there is nowhere. */
export function isWithin(file: string, folder: string): boolean {
  try {
    const below = path.relative(realpathSync(folder), realpathSync(file));
    return below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below);
  } catch {
    return false;
  }
}

export function sha256(text: string): string {
  return hash('sha256', text);
}

/** Of Node. */
export const SHA256: Required<Hasher> = {
  sha256,
  sha256Of(pieces) {
    const sum = createHash('sha256');
    for (const piece of pieces) sum.update(piece, 'utf8');
    return sum.digest('hex');
  },
};

function readPrompt(file: string): FileRead {
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) return { problem: 'directory' };
    // Reading a pipe waits for its writer, and a device may have no end.
    if (!stats.isFile()) return { problem: 'special' };
    if (stats.size > PROMPT_BYTES_MAX) return { problem: 'too_large' };
    const bytes = readFileSync(file);
    if (bytes.includes(0)) return { problem: 'binary' };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { problem: error instanceof TypeError ? 'binary' : 'missing' };
  }
}

/** A data file is read in pieces of this size, so that its length costs no memory. */
const CHUNK_BYTES = 256 * 1024;

function readRows(file: string): RowsRead {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return { problem: 'missing' };
  if (stats.isDirectory()) return { problem: 'directory' };
  // Rows are read more than once, and a pipe gives them to the first reader only.
  return stats.isFile() ? { chunks: chunksOf(file) } : { problem: 'special' };
}

function listFolder(folder: string): FolderRead {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return { entries: entries.map((entry) => folderEntry(folder, entry)) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable' };
  }
}

function folderEntry(folder: string, entry: Dirent): FolderEntry {
  const isLink = entry.isSymbolicLink();
  const target = isLink ? statOrNull(path.join(folder, entry.name)) : entry;
  const isOther = target === null || !(target.isFile() || target.isDirectory());
  return { name: entry.name, kind: isOther ? 'other' : target.isFile() ? 'file' : 'folder', isLink };
}

/** Null for a link that leads nowhere, in a circle, or where access is denied. */
function statOrNull(file: string): Pick<Dirent, 'isFile' | 'isDirectory'> | null {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}

/** Closed when the last piece was taken, or when the reader takes no more. */
function* chunksOf(file: string): Generator<Uint8Array> {
  const descriptor = openSync(file, 'r');
  try {
    for (;;) {
      const buffer = new Uint8Array(CHUNK_BYTES);
      const length = readSync(descriptor, buffer);
      if (length === 0) break;
      if (length === CHUNK_BYTES) expectLongWork();
      yield buffer.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The store is sealed and may belong to a running engine: what it holds is found out when it is needed. */
function secretExists(secret: SecretReference, env: Shell['env']): boolean {
  switch (secret.from) {
    case 'env':
      return env[secret.name] !== undefined;
    case 'file':
      return statSync(secret.path, { throwIfNoEntry: false })?.isFile() === true;
    case 'store':
      return true;
  }
}
