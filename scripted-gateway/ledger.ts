// All billed calls, in the order they were billed: in memory for exports, in a file when one is given.
// It must not price calls or know HTTP.

import { open, readFile, stat, truncate, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { parseUsd } from './decimal-usd.ts';
import { ledgerRowsMax } from './limits.ts';

export interface Ledger {
  /** Resolves when the row will survive a crash. Rejects when it cannot be kept; then the call must not be answered. */
  readonly append: (row: LedgerRow) => Promise<void>;
  /** The rows so far; the order never changes and rows are only added at the end. */
  readonly rows: () => readonly LedgerRow[];
  readonly close: () => Promise<void>;
}

/** Opens a ledger; without a path it lives in memory only. Throws when the file cannot be read or holds a line that is no row. */
export async function openLedger(path: string | null): Promise<Ledger> {
  const rows = path === null ? [] : [...(await loadLedgerFile(path))];
  const file = path === null ? null : await LedgerFile.open(path);
  return {
    append: async (row) => {
      if (rows.length >= ledgerRowsMax)
        throw new Error(`Cannot bill call: the ledger holds ${ledgerRowsMax} rows`);
      await file?.append(row);
      rows.push(row);
    },
    rows: () => rows,
    close: async () => file?.close(),
  };
}

const newline = 0x0a;

/** Rows wait here while an earlier write is on its way to the disk. */
interface Waiting {
  readonly line: string;
  readonly settle: (error: Error | null) => void;
}

/** Loads the rows of a file; a last line without its newline was never acknowledged and is cut off. Throws on any other line that is no row, and on what is no regular file. */
async function loadLedgerFile(path: string): Promise<readonly LedgerRow[]> {
  const bytes = await readWhole(path);
  const end = bytes.lastIndexOf(newline) + 1;
  if (end < bytes.length) await truncate(path, end);
  const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
  return lines.map((line, index) => parseRow(line, path, index + 1));
}

async function readWhole(path: string): Promise<Buffer> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return Buffer.alloc(0);
  // A device or a pipe would be read for ever.
  if (!found.isFile()) throw new Error(`Cannot read ledger "${path}": it is not a regular file`);
  return readFile(path);
}

function parseRow(line: string, path: string, number: number): LedgerRow {
  try {
    return ledgerRowSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new Error(`Cannot read ledger "${path}": line ${number} is not a row`, { cause });
  }
}

/** An open ledger file. One flush carries every row that came while the one before was under way. */
class LedgerFile {
  readonly #handle: FileHandle;
  #size: number;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;
  /** Set when a failed write could not be taken back: a row after it would join a torn line. */
  #broken: Error | null = null;

  private constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.#size = size;
  }

  /** Opens for appending, making the file (readable by its owner only) when there is none. */
  static async open(path: string): Promise<LedgerFile> {
    const handle = await open(path, 'a', 0o600);
    return new LedgerFile(handle, (await handle.stat()).size);
  }

  /** Resolves when the row is on disk; rejects when it is not, and then it is not in the file either. */
  append(row: LedgerRow): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      const settle = (error: Error | null): void => (error === null ? resolve() : reject(error));
      this.#waiting.push({ line: `${JSON.stringify(row)}\n`, settle });
    });
    this.#flushing ??= this.#flush();
    return done;
  }

  /** Waits for what is under way and closes the file. */
  async close(): Promise<void> {
    await this.#flushing;
    await this.#handle.close();
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const error = await this.#write(Buffer.from(batch.map((one) => one.line).join('')));
      for (const one of batch) one.settle(error);
    }
    this.#flushing = null;
  }

  async #write(bytes: Buffer): Promise<Error | null> {
    if (this.#broken !== null) return this.#broken;
    try {
      await this.#handle.appendFile(bytes);
      await this.#handle.datasync();
      this.#size += bytes.length;
      return null;
    } catch (cause) {
      const error = new Error('Cannot bill call: the ledger file cannot be written', { cause });
      await this.#handle.truncate(this.#size).catch(() => {
        this.#broken = error;
      });
      return error;
    }
  }
}

/** Checked when a ledger file is loaded; the order of keys is the order of export columns. */
export const ledgerRowSchema = z.strictObject({
  /** The response's id. */
  request_id: z.string(),
  /** When the request had arrived, ISO 8601 in UTC with milliseconds. */
  time_start: z.iso.datetime(),
  /** When the answer was ready to be sent. */
  time_end: z.iso.datetime(),
  model: z.string(),
  api_key_name: z.string(),
  tags: z.array(z.string()).readonly(),
  session_id: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).readonly().nullable(),
  user: z.string().nullable(),
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  /** An exact decimal. */
  cost_usd: z.string().refine((text) => parseUsd(text) !== null),
  status: z.literal('success'),
});

export type LedgerRow = z.infer<typeof ledgerRowSchema>;

/** The export's columns, in order. */
export const ledgerColumns = Object.keys(ledgerRowSchema.shape) as readonly (keyof LedgerRow)[];
