/**
 * SQLite in one file, for Kysely: opening, settings, and transactions that take the write lock at their begin.
 * Owns the native library; nothing else imports it, except the lock of the data directory.
 */
import Database from 'libsql';
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDialectConfig,
  type SqliteDatabase,
  type SqliteStatement,
} from 'kysely';
import { ensurePrivateDatabase } from '../private-files.ts';
import type { Tables } from '../schema/tables.ts';

/** How long a write waits for another process; a second process writes rarely and shortly. */
const BUSY_TIMEOUT_MS = 5_000;
/** A change of mode takes a few milliseconds. */
const BUSY_AGAIN_MS = 10;

export interface SqliteOptions {
  readonly readOnly: boolean;
  /** Called after every commit of a transaction. */
  readonly onCommit?: () => void;
}

export interface SqliteHandle {
  readonly db: Kysely<Tables>;
  close(): Promise<void>;
}

/** SQLite's own name of a database without a file. */
export const IN_MEMORY = ':memory:';

/**
 * Opens or creates the file. Every commit is synced before it is acknowledged: with group commit this costs little.
 * Read-only means that this connection cannot write; it reads beside a process that does.
 */
export function openSqlite(path: string, options: SqliteOptions): SqliteHandle {
  if (!options.readOnly && path !== IN_MEMORY) ensurePrivateDatabase(path);
  const database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  if (options.readOnly) database.exec('PRAGMA query_only = ON');
  else enterWriteAheadMode(database);
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA foreign_keys = ON');
  const db = new Kysely<Tables>({
    dialect: new StoreDialect({ database: statementCache(database) }, options.onCommit),
  });
  return {
    db,
    async close() {
      // The library keeps the file open until its statements are collected, so the log is emptied here and not by the close.
      if (!options.readOnly) await db.executeQuery(CompiledQuery.raw('PRAGMA wal_checkpoint(TRUNCATE)'));
      await db.destroy();
    },
  };
}

/** While a file changes its mode, other processes are refused at once, despite the busy timeout: they try again. */
function enterWriteAheadMode(database: Database.Database): void {
  const until = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      database.prepare('PRAGMA journal_mode = WAL').get();
      return;
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
      if (!isBusy || performance.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_AGAIN_MS);
    }
  }
}

class StoreDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #onCommit: (() => void) | undefined;

  constructor(config: SqliteDialectConfig, onCommit: (() => void) | undefined) {
    super(config);
    this.#config = config;
    this.#onCommit = onCommit;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#config, this.#onCommit);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/**
 * A transaction that begins as a reader and writes later fails at once when another process wrote in between,
 * without waiting; every transaction of ours writes, so each takes the write lock first.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #onCommit: (() => void) | undefined;

  constructor(config: SqliteDialectConfig, onCommit: (() => void) | undefined) {
    super(config);
    this.#onCommit = onCommit;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
    this.#onCommit?.();
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** A full disk makes SQLite roll back by itself; the second rollback must not hide the first cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // The call may throw synchronously.
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'));
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error;
    }
  }
}

/** SQLite creates tables inside a transaction; two processes that open a new file at once then migrate it once. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** The store has fewer distinct texts than this, statements over many rows included: those come in few sizes. */
const STATEMENTS_MAX = 400;

/** The database with `prepare` answered from the most recently used statements. */
export function statementCache(database: SqliteDatabase): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(text) {
      const known = statements.get(text);
      const statement = known ?? prepared(database, text);
      statements.delete(text);
      statements.set(text, statement);
      if (statements.size > STATEMENTS_MAX) statements.delete(oldestKey(statements));
      return statement;
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

/** Kysely reads `reader` at every execution: a plain property is cheaper. */
function prepared(database: SqliteDatabase, text: string): SqliteStatement {
  const statement = database.prepare(text);
  const { reader } = statement;
  return {
    reader,
    all: (values) => statement.all(values),
    run: (values) => statement.run(values),
    iterate: (values) => statement.iterate(values),
  };
}

function oldestKey(statements: ReadonlyMap<string, unknown>): string {
  return statements.keys().next().value ?? '';
}
