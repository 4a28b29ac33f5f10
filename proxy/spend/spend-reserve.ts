/**
 * Room on disk that is taken before it is needed: a call that was answered and billed while the disk was full keeps its
 * price, even when the process ends before there is room again.
 * Owns one file of zeros, over which rows are written in place; what is zero is nothing.
 */
import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs';
import { RESERVE_BYTES } from '../limits.ts';

/** Beside the spool, in which every file is a segment. */
export function reserveOf(spoolDir: string): string {
  return `${spoolDir}.reserve`;
}

const ZEROS = Buffer.alloc(64 * 1024);

export class SpendReserve {
  /** Null where there was no room for it at the start. */
  private readonly fd: number | null;
  private used = 0;

  constructor(spoolDir: string) {
    this.fd = taken(reserveOf(spoolDir));
  }

  /** False when it does not fit, or cannot be written. */
  keep(text: string): boolean {
    const bytes = Buffer.from(text);
    if (this.fd === null || this.used + bytes.length > RESERVE_BYTES) return false;
    try {
      writeWhole(this.fd, bytes, this.used);
      this.used += bytes.length;
      return true;
    } catch {
      return false;
    }
  }

  /** Nothing of it is wanted any more. A row that stays behind is one that the store knows. */
  free(): void {
    if (this.fd === null || this.used === 0) return;
    try {
      for (let at = 0; at < this.used; at += ZEROS.length)
        writeWhole(this.fd, ZEROS.subarray(0, Math.min(ZEROS.length, this.used - at)), at);
      this.used = 0;
    } catch {
      // It is written over by the next rows, or tried again after them.
    }
  }
}

/** Whether an earlier process kept a row in it. */
export function isReserveUsed(spoolDir: string): boolean {
  if (!existsSync(reserveOf(spoolDir))) return false;
  const fd = openSync(reserveOf(spoolDir), 'r');
  try {
    const first = Buffer.alloc(1);
    return readSync(fd, first, 0, 1, 0) === 1 && first[0] !== 0;
  } finally {
    closeSync(fd);
  }
}

function taken(file: string): number | null {
  try {
    const fd = openSync(file, 'w', 0o600);
    for (let at = 0; at < RESERVE_BYTES; at += ZEROS.length) writeWhole(fd, ZEROS, at);
    return fd;
  } catch {
    return null;
  }
}

function writeWhole(fd: number, bytes: Buffer, position: number): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at, bytes.length - at, position + at);
}
