/**
 * One engine per data directory.
 * Owns two files. One is held by a lock of the kernel, which ends with its process, even if that process is invisible
 * here. The other notes the owner, for people; it is a small database, so that reading and taking are one step.
 */
import Database from 'libsql';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { fail } from '../sql/connection.ts';
import { ensurePrivateDatabase, ensurePrivateDirectory } from '../private-files.ts';
import { processMark } from './process-identity.ts';

export const LOCK_FILE = 'engine.lock';
/** A database in which a transaction is open for as long as the directory is held, and nothing is ever written. */
const HELD_FILE = 'engine.held';
/** Reading and taking last milliseconds; a waiting process must not give up before. */
const BUSY_TIMEOUT_MS = 5_000;
/** Between the lock on a directory and the note of its owner are milliseconds, or more on a busy machine. */
const OWNER_POLLS_MAX = 20;
const OWNER_POLL_EVERY_MS = 50;

export interface LockOptions {
  /** The process that will own the directory; default this one. */
  readonly pid?: number;
  /** Epoch milliseconds, shown in the error of a process that finds the directory locked. */
  readonly startedAt: number;
  /** False: fails at once if it is held, without reading the owner; for a process that serves meanwhile. */
  readonly isPatient?: boolean;
}

/** Held by the one process that may write to a data directory. */
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
 * Takes the directory, which is made when missing. The lock of a dead process is taken over, also if its process id was
 * reused. Of two containers that share a directory one holds it, too: the kernel knows both.
 * @throws ParleyError data_directory_locked with `details.pid` when a living process owns it
 * @throws ParleyError store_unavailable when the lock file cannot be used
 */
export function lockDataDirectory(directory: string, options: LockOptions): DataDirectoryLock {
  const pid = options.pid ?? process.pid;
  const own: Owner = { pid, mark: requireMark(directory, pid), startedAt: options.startedAt };
  ensurePrivateDirectory(directory);
  const hold = holdDirectory(directory, options.isPatient ?? true);
  try {
    inLockFile(directory, (file) => take(file, directory, own));
  } catch (error) {
    hold.release();
    throw error;
  }
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      inLockFile(directory, (file) => {
        file.prepare('delete from owner where pid = ? and mark = ?').run(own.pid, own.mark);
      });
      hold.release();
    },
  };
}

/** @throws ParleyError data_directory_locked another process holds it, also one whose process id is unknown here */
function holdDirectory(directory: string, isPatient: boolean): { release(): void } {
  const place = path.join(directory, HELD_FILE);
  const isHeldByOther = { value: false };
  try {
    ensurePrivateDatabase(place);
    const file = new Database(place, isPatient ? {} : { timeout: 0 });
    try {
      file.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      isHeldByOther.value = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
      file.close();
      throw error;
    }
    return {
      release() {
        file.exec('ROLLBACK');
        file.close();
      },
    };
  } catch (error) {
    if (isHeldByOther.value) throw locked(directory, isPatient ? ownerOf(directory) : null);
    return fail(`hold the data directory "${directory}"`, error);
  }
}

/**
 * The process that holds a directory notes itself a moment later, and until then the note is that of a killed process:
 * so a note of no living process is read again for a while. The note of a process of another container, whose id is
 * unknown here, is returned unchanged. Null where there is no note.
 */
function ownerOf(directory: string): Owner | null {
  let owner: Owner | undefined;
  for (let attempt = 1; attempt <= OWNER_POLLS_MAX; attempt += 1) {
    inLockFile(directory, (file) => {
      owner = noted(file);
    });
    if (owner !== undefined && processMark(owner.pid) === owner.mark) break;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OWNER_POLL_EVERY_MS);
  }
  return owner ?? null;
}

function noted(file: Database.Database): Owner | undefined {
  return file.prepare('select pid, mark, started_at as startedAt from owner').all()[0] as Owner | undefined;
}

/** Without a mark the owner would look like a dead process, and any other process would take the directory over. */
function requireMark(directory: string, pid: number): string {
  const mark = processMark(pid);
  if (mark !== null) return mark;
  throw new ParleyError(
    'store_unavailable',
    `Cannot lock the data directory "${directory}": the system does not tell when the process ${pid} started`,
  );
}

function take(file: Database.Database, directory: string, own: Owner): void {
  const row = noted(file);
  if (row !== undefined && processMark(row.pid) === row.mark) throw locked(directory, row);
  file.prepare('delete from owner').run();
  file
    .prepare('insert into owner (pid, mark, started_at) values (?, ?, ?)')
    .run(own.pid, own.mark, own.startedAt);
}

function locked(directory: string, owner: Owner | null): ParleyError {
  if (owner === null)
    return new ParleyError(
      'data_directory_locked',
      `Cannot use the data directory "${directory}": another process has just taken it`,
    );
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
