/**
 * Group commit for every write of one SQLite connection: what arrives while a commit runs shares the next one.
 * Owns the one transaction around them and a savepoint around each; a failed write takes no other with it.
 */
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** Writes of one commit at most: bounds how long readers of the same connection wait. */
const WRITES_MAX = 512;

type Work = (transaction: Transaction<Tables>) => Promise<unknown>;

interface Waiting {
  readonly work: Work;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Settled = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: unknown };

export class GroupWriter {
  private readonly db: Kysely<Tables>;
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(db: Kysely<Tables>) {
    this.db = db;
  }

  /** Resolves after the commit that holds this write; rejects with its own failure, or with the commit's. */
  write<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      if (!this.isWriting) void this.drain();
    });
  }

  /** Nothing waits on purpose: the first write begins at once, the next group is what came meanwhile. */
  private async drain(): Promise<void> {
    this.isWriting = true;
    await nextMacrotask();
    while (this.waiting.length > 0) {
      await this.commit(this.waiting.splice(0, WRITES_MAX));
      await nextMacrotask();
    }
    this.isWriting = false;
  }

  private async commit(group: readonly Waiting[]): Promise<void> {
    try {
      const settled = await this.db.transaction().execute((transaction) => carryOutAll(transaction, group));
      for (const [index, outcome] of settled.entries()) settle(group[index], outcome);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

/** A write that is alone needs no savepoint: the transaction is its own. */
async function carryOutAll(transaction: Transaction<Tables>, group: readonly Waiting[]): Promise<readonly Settled[]> {
  const [first] = group;
  if (group.length === 1 && first !== undefined) return [{ ok: true, result: await first.work(transaction) }];
  const settled: Settled[] = [];
  for (const { work } of group) settled.push(await carryOut(transaction, work));
  return settled;
}

async function carryOut(transaction: Transaction<Tables>, work: Work): Promise<Settled> {
  await sql`savepoint one_write`.execute(transaction);
  try {
    const result = await work(transaction);
    await sql`release one_write`.execute(transaction);
    return { ok: true, result };
  } catch (error) {
    await sql`rollback to one_write`.execute(transaction);
    await sql`release one_write`.execute(transaction);
    return { ok: false, error };
  }
}

function settle(waiting: Waiting | undefined, outcome: Settled): void {
  if (outcome.ok) waiting?.resolve(outcome.result);
  else waiting?.reject(outcome.error);
}

/** Lets what is ready arrive first: that is what makes a group. */
function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
