/**
 * Group commit for every write of one SQLite connection: what arrives while a commit runs shares the next one.
 * Owns the one transaction around them; a failed write takes no other with it.
 */
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** Writes of one commit at most: bounds how long readers of the same connection wait. */
const WRITES_MAX = 512;
/** Turns of the event loop a group may gather over: one write may wait for what another one's answer causes. */
const GATHERING_TURNS_MAX = 4;

type Work = (transaction: Transaction<Tables>) => Promise<unknown>;

interface Waiting {
  readonly work: Work;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupWriter {
  private readonly db: Kysely<Tables>;
  private readonly begin: (transaction: Transaction<Tables>) => Promise<void>;
  private waiting: Waiting[] = [];
  private isWriting = false;

  /** `begin` is done first in every transaction; when it fails, none of its writes is tried again. */
  constructor(db: Kysely<Tables>, begin: GroupWriter['begin'] = () => Promise.resolve()) {
    this.db = db;
    this.begin = begin;
  }

  /**
   * Resolves after the commit that holds this write; rejects with its own failure, or with the commit's.
   * `work` runs a second time when another write of its group failed, so it must not change anything but the database.
   */
  write<T>(work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
      if (!this.isWriting) void this.drain();
    });
  }

  /** No time is waited for: a group is what is ready by the time the event loop has nothing more to add to it. */
  private async drain(): Promise<void> {
    this.isWriting = true;
    await this.gather();
    while (this.waiting.length > 0) {
      await this.commit(this.waiting.splice(0, WRITES_MAX));
      await this.gather();
    }
    this.isWriting = false;
  }

  private async gather(): Promise<void> {
    for (let turn = 0; turn < GATHERING_TURNS_MAX; turn += 1) {
      const before = this.waiting.length;
      await nextMacrotask();
      if (turn > 0 && this.waiting.length === before) return;
    }
  }

  /** Failures are rare, so nothing is prepared for one: the group is rolled back, and each write has a commit alone. */
  private async commit(group: readonly Waiting[]): Promise<void> {
    const progress = { isInWork: false };
    try {
      const results = await this.db.transaction().execute(async (transaction) => {
        await this.begin(transaction);
        return await carryOut(transaction, group, progress);
      });
      for (const [index, { resolve }] of group.entries()) resolve(results[index]);
    } catch (error) {
      if (progress.isInWork && group.length > 1) for (const write of group) await this.commit([write]);
      else for (const { reject } of group) reject(error);
    }
  }
}

/** Says whether it was a write that failed: a commit that fails, fails for all. */
async function carryOut(
  transaction: Transaction<Tables>,
  group: readonly Waiting[],
  progress: { isInWork: boolean },
): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  progress.isInWork = true;
  for (const { work } of group) results.push(await work(transaction));
  progress.isInWork = false;
  return results;
}

/** Lets what is ready arrive first: that is what makes a group. */
function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
