/**
 * What only its owner may read: the data directory and the databases in it hold transcripts, keys and prices.
 * Owns the modes, also of what an older version or another program left open to others.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';

const OWNER_ONLY = { directory: 0o700, file: 0o600 } as const;
const OF_OTHERS = 0o077;
/** SQLite keeps these beside a database; they get its mode when they are made. */
const BESIDE = ['', '-wal', '-shm'];

/** Makes the directory where it is missing. @throws as `mkdirSync`; never because another user owns it */
export function ensurePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: OWNER_ONLY.directory });
  close(directory, OWNER_ONLY.directory);
}

/**
 * Creates an empty database where it is missing. An existing one is not opened: closing it would release what
 * this process has locked in it. @throws as `openSync`
 */
export function ensurePrivateDatabase(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', OWNER_ONLY.file));
  for (const suffix of BESIDE) close(`${file}${suffix}`, OWNER_ONLY.file);
}

/**
 * A directory of another owner, as the root of a mounted volume, keeps its mode: each important file in it has its own
 * mode.
 */
function close(place: string, mode: number): void {
  const stat = statSync(place, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & OF_OTHERS) === 0) return;
  try {
    chmodSync(place, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}
