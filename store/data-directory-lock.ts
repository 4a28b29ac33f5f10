/**
 * One engine per data directory.
 * Owns the lock file: who holds it, whether that process lives, and taking it over from a dead one. The file is a small
 * database, so that looking and taking are one step for every process, and a kill between them leaves nothing half done.
 */
import Database from 'libsql';
import path from 'node:path';
import { ParleyError } from '../core/parley-error.ts';
import { fail } from './connection.ts';
import { ensurePrivateDatabase, ensurePrivateDirectory } from './private-files.ts';
import { processMark } from './process-identity.ts';

export const LOCK_FILE = 'engine.lock';
/** Looking and taking last milliseconds; a waiting process must not give up before. */
const BUSY_TIMEOUT_MS = 5_000;

export interface LockOptions {
  /** The process that will own the directory; default this one. */
  readonly pid?: number;
  /** Epoch milliseconds, shown to whoever finds the directory locked. */
  readonly startedAt: number;
}

export interface DataDirectoryLock {
  /** Gives the directory back; a second call changes nothing. */
  release(): void;
}

interface Owner {
  readonly pid: number;
  readonly mark: string;
  readonly startedAt: number;
}

/**
 * Takes the directory, which is made when missing. The lock of a process that no longer lives is taken over, also when
 * its number was given out again. Both processes must see each other's numbers: two containers that share a directory
 * do not, unless they share their process namespace.
 * @throws ParleyError data_directory_locked with `details.pid` when a living process owns it
 * @throws ParleyError store_unavailable when the lock file cannot be used
 */
export function lockDataDirectory(directory: string, options: LockOptions): DataDirectoryLock {
  const pid = options.pid ?? process.pid;
  const own: Owner = { pid, mark: requireMark(directory, pid), startedAt: options.startedAt };
  ensurePrivateDirectory(directory);
  inLockFile(directory, (file) => take(file, directory, own));
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      inLockFile(directory, (file) => {
        file.prepare('delete from owner where pid = ? and mark = ?').run(own.pid, own.mark);
      });
    },
  };
}

/** Without a mark the owner could not be told from a dead process, and everybody would take the directory over. */
function requireMark(directory: string, pid: number): string {
  const mark = processMark(pid);
  if (mark !== null) return mark;
  throw new ParleyError(
    'store_unavailable',
    `Cannot lock the data directory "${directory}": the system does not tell when the process ${pid} started`,
  );
}

function take(file: Database.Database, directory: string, own: Owner): void {
  const row = file.prepare('select pid, mark, started_at as startedAt from owner').all()[0] as
    Owner | undefined;
  if (row !== undefined && processMark(row.pid) === row.mark) throw locked(directory, row);
  file.prepare('delete from owner').run();
  file
    .prepare('insert into owner (pid, mark, started_at) values (?, ?, ?)')
    .run(own.pid, own.mark, own.startedAt);
}

function locked(directory: string, owner: Owner): ParleyError {
  const since = new Date(owner.startedAt).toISOString();
  return new ParleyError(
    'data_directory_locked',
    `Cannot use the data directory "${directory}": the process ${owner.pid} has owned it since ${since}`,
    { details: { pid: owner.pid, startedAt: owner.startedAt } },
  );
}

/** Runs `work` alone among all processes; its changes are kept whole or not at all. */
function inLockFile(directory: string, work: (file: Database.Database) => void): void {
  try {
    ensurePrivateDatabase(path.join(directory, LOCK_FILE));
    const file = new Database(path.join(directory, LOCK_FILE), { timeout: BUSY_TIMEOUT_MS });
    try {
      file.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
      file.exec('BEGIN IMMEDIATE');
      file.exec('create table if not exists owner (pid integer, mark text, started_at integer)');
      work(file);
      file.exec('COMMIT');
    } catch (error) {
      if (file.inTransaction) file.exec('ROLLBACK');
      throw error;
    } finally {
      file.close();
    }
  } catch (error) {
    fail(`lock the data directory "${directory}"`, error);
  }
}
