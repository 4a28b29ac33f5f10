/**
 * Whether a disk has room. Owns what counts as none: a file system refuses a large write before it is full to the last
 * byte, and one without a free inode refuses every new file.
 */
import { statfsSync } from 'node:fs';

const ROOM_BYTES_MIN = 1_048_576;

/** True also where the system cannot say, as for a folder that is not there. */
export function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES_MIN && (files === 0 || ffree > 0);
  } catch {
    return true;
  }
}

/** Whether a write was refused for want of room. */
export function isFullDisk(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
