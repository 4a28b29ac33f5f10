/**
 * Reads of one SQLite connection that are asked for together share one read transaction.
 * Owns that transaction: to begin and end one costs SQLite more than to find a row. Must not write.
 */
import { sql, type Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** Reads of one transaction at most: bounds how long writers of the same connection wait. */
const READS_MAX = 512;

interface Waiting {
  readonly work: (db: Kysely<Tables>) => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupReader {
  private readonly db: Kysely<Tables>;
  private waiting: Waiting[] = [];
  private isReading = false;

  constructor(db: Kysely<Tables>) {
    this.db = db;
  }

  /** Sees every write that was acknowledged before; rejects with its own failure. */
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      if (!this.isReading) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.isReading = true;
    // Callers that are about to ask at this moment come first; nothing else is waited for.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.readAll(this.waiting.splice(0, READS_MAX));
    this.isReading = false;
  }

  private async readAll(group: readonly Waiting[]): Promise<void> {
    const [first] = group;
    if (group.length === 1 && first !== undefined) return settle(this.db, first);
    try {
      await this.db.connection().execute(async (db) => {
        await sql`begin`.execute(db);
        for (const read of group) await settle(db, read);
        await sql`commit`.execute(db);
      });
    } catch (error) {
      // Those that have their answer already keep it.
      for (const { reject } of group) reject(error);
    }
  }
}

async function settle(db: Kysely<Tables>, { work, resolve, reject }: Waiting): Promise<void> {
  try {
    resolve(await work(db));
  } catch (error) {
    reject(error);
  }
}
