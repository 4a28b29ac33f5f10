/**
 * The file of the deployment as text: read, replaced whole or not at all, with the text before it kept beside it.
 * Owns the names of the files in between; must not know a key.
 */
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { syncDirectory } from '../../store/blobs/directory-sync.ts';
import { revisionOf } from '../config/text-revision.ts';

/** Where the text before the last change is. */
const PREVIOUS = '.previous';
/** For a file that did not exist: its text may be for the operator alone. */
const MODE = 0o600;

/** An empty text when there is no file. @throws ParleyError store_unavailable */
export function readConfiguration(file: string): string {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  } catch (error) {
    throw unusable('read', error);
  }
}

/** As the reading of it names it: what cannot be read counts as empty, and why is for the reading to say. */
export function revisionOfFile(file: string): string {
  try {
    return revisionOf(readFileSync(file, 'utf8'));
  } catch {
    return revisionOf('');
  }
}

export interface Candidate {
  /** Beside the file, so that relative paths in it mean the same. */
  readonly path: string;
  /** Puts it in the place of the file. @throws ParleyError store_unavailable */
  take(): Promise<void>;
  /** Removes it, if it is still there. */
  drop(): void;
}

/** The text as a file that can be checked before it is in force. @throws ParleyError store_unavailable */
export function writeCandidate(file: string, text: string): Candidate {
  const path = `${file}.${randomUUID()}.new`;
  const drop = (): void => rmSync(path, { force: true });
  try {
    const mode = existsSync(file) ? statSync(file).mode & 0o777 : MODE;
    writeFileSync(path, text, { mode, flush: true });
  } catch (error) {
    drop();
    throw unusable('write', error);
  }
  return {
    path,
    drop,
    async take() {
      try {
        if (existsSync(file)) copyFileSync(file, `${file}${PREVIOUS}`);
        renameSync(path, file);
        await syncDirectory(dirname(resolve(file)));
      } catch (error) {
        throw unusable('write', error);
      }
    },
  };
}

function unusable(verb: 'read' | 'write', error: unknown): ParleyError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
  return new ParleyError('store_unavailable', `Cannot ${verb} the configuration: ${code}`);
}
