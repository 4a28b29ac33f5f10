/**
 * One open database: reading, writing in a transaction, and how failures appear to callers.
 * Owns the borders of transactions and locks; must not know a table.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sql, type Kysely, type Transaction, type TransactionBuilder } from 'kysely';
import { ParleyError } from '../../core/parley-error.ts';
import { worldErrorOf } from '../../core/world-error.ts';
import type { EngineFence } from '../engine/engine-fence.ts';
import { GroupWriter } from './group-writer.ts';
import { isConflict, isLost } from './postgres-failure.ts';
import type { Tables } from '../schema/tables.ts';

export type Dialect = 'sqlite' | 'postgres';

export interface StoreConnection {
  readonly dialect: Dialect;
  /** @throws ParleyError store_unavailable when the database fails; `action` names what was tried, e.g. "read the run" */
  read<T>(action: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /**
   * One write: applied whole, or not at all when `work` fails. Writes that come together may share one transaction;
   * when one of them fails the others run again, and PostgreSQL may give a transaction up or lose its connection, so
   * `work` may run several times and must change nothing but the database.
   * @throws ParleyError store_unavailable
   */
  write<T>(action: string, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T>;
  /**
   * The same for work that detects by itself that it was applied before: where the answer to a commit was lost it runs
   * again, so that no transaction id is needed beforehand to query the outcome of that commit.
   * @throws ParleyError store_unavailable
   */
  repeatableWrite: StoreConnection['write'];
  /** One such statement, which is a transaction by itself. @throws ParleyError store_unavailable */
  writeStatement<T>(action: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
}

export interface ConnectionOptions {
  readonly dialect: Dialect;
  /** Writes that come together share one commit and its sync; a server groups commits by itself. */
  readonly groupWrites: boolean;
  /** Checked at the begin of every transaction that writes; absent: the writer is no engine. */
  readonly fence?: EngineFence | undefined;
}

export function storeConnection(db: Kysely<Tables>, options: ConnectionOptions): StoreConnection {
  const { fence } = options;
  const begin = async (transaction: Transaction<Tables>): Promise<void> => fence?.check(transaction);
  const writer = new GroupWriter(db, begin);
  const writeWith = (transactions: () => TransactionBuilder<Tables>): GroupWriter['write'] =>
    options.groupWrites
      ? (work) => writer.write(work)
      : (work) =>
          repeated(() =>
            transactions().execute(async (transaction) => {
              if (fence !== undefined) await begin(transaction);
              return await work(transaction);
            }),
          );
  const write = writeWith(() => db.transaction());
  // PostgreSQL's default, set explicitly: postgres-client.ts queries the transaction id only after a bare "begin".
  const repeatableWrite = writeWith(() => db.transaction().setIsolationLevel('read committed'));
  const isBare = !options.groupWrites && fence === undefined;
  const read = <T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> => repeated(() => work(db));
  const writeStatement: typeof read = isBare ? read : repeatableWrite;
  return {
    dialect: options.dialect,
    read: (action, work) => read(work).catch((error: unknown) => fail(action, error)),
    write: (action, work) => write(work).catch((error: unknown) => fail(action, error)),
    repeatableWrite: (action, work) => repeatableWrite(work).catch((error: unknown) => fail(action, error)),
    writeStatement: (action, work) => writeStatement(work).catch((error: unknown) => fail(action, error)),
  };
}

/**
 * The error as one of ours with its cause: `store_conflict` when PostgreSQL gave this transaction up for another one,
 * `store_damaged` when SQLite's file is, else `store_unavailable`. Each says that nothing was applied. One of ours passes
 * unchanged.
 */
export function fail(action: string, error: unknown): never {
  if (error instanceof ParleyError) throw error;
  const said = error instanceof Error ? error.message : String(error);
  const state = isLost(error) ? `the connection to the database was lost (${said})` : said;
  const code = isConflict(error)
    ? 'store_conflict'
    : isDamaged(error)
      ? 'store_damaged'
      : 'store_unavailable';
  const remedy = remedyOf(error) ?? worldErrorOf(error)?.remedy;
  throw new ParleyError(code, `Cannot ${action}: ${state}`, { cause: error, ...(remedy && { remedy }) });
}

/** An invalid page, or a file that is no database: this does not recover by itself. */
function isDamaged(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^SQLITE_(CORRUPT|NOTADB)/.test(String(error.code));
}

/** What the operator must do, by the code of the database; null where nothing, or where another code has a remedy. */
function remedyOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (isDamaged(error))
    return 'stop Parley and bring back a copy of store.path, the file with its -wal; docs/store.md says how to save what is left';
  // 57014: cancelled, by its time limit or by an operator.
  if (code === '57014')
    return 'see in pg_stat_activity who holds a lock on the tables for so long; store.statement_timeout is how long is waited';
  if (code === 'SQLITE_FULL') return 'make room on the disk of store.path; what was stored is safe';
  if (/^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/.test(code))
    return 'check owner and permissions of store.path, or name another folder there';
  return code.startsWith('SQLITE_IOERR') ? 'look at the disk of store.path: the device failed' : null;
}

/** Things that only one transaction may do at a time; the numbers are part of the database's own protocol. */
const LOCKS = { placement: 7_001, removal: 7_002 } as const;

/**
 * Waits until no other transaction holds `lock`, and holds it to the end of this one.
 * A write transaction of SQLite is alone anyway; PostgreSQL keeps an advisory lock for it.
 * Where both are taken, `placement` comes first, so that two transactions never wait for each other.
 */
export async function holdLock(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  lock: keyof typeof LOCKS,
  mode: 'exclusive' | 'shared' = 'exclusive',
): Promise<void> {
  if (connection.dialect === 'sqlite') return;
  const key = sql.lit(LOCKS[lock]);
  const take = mode === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  await sql`select ${take}(${key})`.execute(transaction);
}

/**
 * Pauses between the tries: seven seconds in all, which a server takes to restart. The caller waits meanwhile, so it
 * is no longer than a client does.
 */
const PAUSES_MS = [10, 30, 100, 250, 500, 1_000, 2_000, 3_000];

/** Ends with the last failure. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!helps(error)) throw error;
    }
    await pause(pauseMs);
  }
  return await work();
}

function helps(error: unknown): boolean {
  const first = error instanceof ParleyError ? error.cause : error;
  return isConflict(first) || isLost(first);
}
