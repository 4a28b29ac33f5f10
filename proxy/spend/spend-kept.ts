/**
 * Spend rows that the store has said it has, kept for a while: a database that lost its log, or was brought back from a
 * copy, lacks the last of them, and gets them again (D26).
 * Owns the newest files of the spool once they are sent; must not talk to the store.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { SpendRow } from '../../core/money/spend.ts';
import { KEPT_BYTES_MAX, KEPT_FILES_MAX } from '../limits.ts';

interface KeptFile {
  readonly file: string;
  readonly bytes: number;
  /** When the first of its calls began, epoch milliseconds. */
  readonly from: number;
}

/** Beside the spool, in which every file is still to be sent. */
export function keptDirOf(spoolDir: string): string {
  return `${spoolDir}.kept`;
}

export class KeptRows {
  private readonly directory: string;
  private readonly files: KeptFile[] = [];
  private bytes = 0;
  /** What earlier processes kept, until it is forgotten. */
  private known: readonly SpendRow[] = [];
  /** Some of it was too much to keep. */
  private isPruned: boolean;

  /** `read` gives the rows of one file. */
  constructor(spoolDir: string, isSegment: RegExp, read: (file: string) => readonly SpendRow[]) {
    this.directory = keptDirOf(spoolDir);
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const names = readdirSync(this.directory)
      .filter((name) => isSegment.test(name))
      .sort();
    const rows: SpendRow[] = [];
    for (const name of names) {
      const file = path.join(this.directory, name);
      const own = read(file);
      rows.push(...own);
      this.add(file, own);
    }
    this.known = rows;
    this.isPruned = names.length > 0 && names[0]?.includes('000000000001') !== true;
  }

  /** Names of the files, oldest first. */
  get names(): readonly string[] {
    return this.files.map(({ file }) => path.basename(file));
  }

  /** The store has this file of the spool. */
  keep(file: string, rows: readonly SpendRow[]): void {
    const kept = path.join(this.directory, path.basename(file));
    try {
      renameSync(file, kept);
    } catch {
      rmSync(file, { force: true });
      return;
    }
    this.add(kept, rows);
  }

  /** The rows that earlier processes kept, oldest first, and whether there were older ones. */
  get earlier(): { readonly rows: readonly SpendRow[]; readonly hadMore: boolean } {
    return { rows: this.known, hadMore: this.isPruned };
  }

  /** They have been looked for in the store. */
  forgetEarlier(): void {
    this.known = [];
  }

  /** Rows of calls that began before are going over into sums: to bring one back would count it twice. */
  forgetBefore(startedBefore: number): void {
    for (const kept of this.files.splice(0)) {
      if (kept.from >= startedBefore) this.files.push(kept);
      else this.remove(kept);
    }
  }

  private add(file: string, rows: readonly SpendRow[]): void {
    const from = rows.reduce((first, row) => Math.min(first, row.startedAt), Infinity);
    const { size: bytes } = statSync(file);
    this.files.push({ file, bytes, from });
    this.bytes += bytes;
    while (this.bytes > KEPT_BYTES_MAX || this.files.length > KEPT_FILES_MAX) {
      const oldest = this.files.shift();
      if (oldest === undefined) return;
      this.remove(oldest);
      this.isPruned = true;
    }
  }

  private remove({ file, bytes }: KeptFile): void {
    this.bytes -= bytes;
    rmSync(file, { force: true });
  }
}
