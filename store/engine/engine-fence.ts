/**
 * A fencing number for an engine that uses a database alone: the next engine raises it, and from then on transactions
 * of the earlier one are refused, even if the locks beside the database failed.
 * Owns the number and the check within a transaction; a callback notifies the engine that has lost the database.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql, type Kysely, type Transaction } from 'kysely';
import { ParleyError } from '../../core/parley-error.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

/** Callbacks of an engine that loses its database, and where its number is noted. */
export interface FenceOptions {
  /** Another engine has the database now; called once. Nothing is stored from then on. */
  onLost(error: ParleyError): void;
  /** The data directory: the number is noted there, too. Absent: it is not compared. */
  readonly noteIn?: string | undefined;
  /** The database is older than the engine that noted its number: what was stored since is not in it. */
  onOlder?(): void;
}

export interface EngineFence {
  /** At the begin of a transaction. @throws ParleyError data_directory_locked another engine has the database now */
  check(transaction: Transaction<Tables>): Promise<void>;
}

/** The number that the latest engine of this data directory had. */
const NOTE_FILE = 'engine.fence';
/** Its row in the table `installation`. */
const NAME = 'engine_fence';
/** Beside the locks of connection.ts: an engine that raises the number waits for transactions that passed the check. */
const LOCK = 7_006;
/** SQLSTATE of a refusal: a class that neither the server nor the standard uses. */
const REFUSED = 'PF001';

/** Raises the number: from the commit of this on no earlier engine stores anything. */
export async function raiseFence(
  db: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  options: FenceOptions,
): Promise<EngineFence> {
  const note = options.noteIn === undefined ? null : path.join(options.noteIn, NOTE_FILE);
  const noted = note === null ? 0 : readNote(note);
  let stored = 0;
  const own = await db.transaction().execute(async (transaction) => {
    if (dialect === 'postgres')
      await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(transaction);
    stored = Number((await numberIn(transaction)) ?? 0);
    const next = String(Math.max(stored, noted) + 1);
    await transaction
      .insertInto('installation')
      .values({ name: NAME, value: next })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: next }))
      .execute();
    return next;
  });
  if (stored < noted) options.onOlder?.();
  if (note !== null) writeFileSync(note, own, { mode: 0o600 });
  return fenceOf(own, { dialect, ...options });
}

function fenceOf(
  own: string,
  { dialect, onLost }: FenceOptions & { readonly dialect: 'sqlite' | 'postgres' },
): EngineFence {
  const isHeld = dialect === 'sqlite' ? isOwnNumber(own) : isHeldOnServer(own);
  let isLost = false;
  return {
    async check(transaction) {
      if (!isLost && (await isHeld(transaction))) return;
      const error = lost();
      if (!isLost) onLost(error);
      isLost = true;
      throw error;
    },
  };
}

/** 0 where there is no note, or none that can be read. */
function readNote(file: string): number {
  try {
    return Number(/^\d{1,15}$/.exec(readFileSync(file, 'utf8'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

type IsHeld = (transaction: Transaction<Tables>) => Promise<boolean>;

/** A write transaction of SQLite is alone: no engine raises the number before its commit. */
function isOwnNumber(own: string): IsHeld {
  return async (transaction) => (await numberIn(transaction)) === own;
}

/**
 * In one round trip. Two statements, because each sees what was committed when it began: the number is read once no
 * engine can raise it before this transaction ends.
 */
function isHeldOnServer(own: string): IsHeld {
  const check = sql.raw(`do $$ begin
    perform pg_advisory_xact_lock_shared(${LOCK});
    if (select value from installation where name = '${NAME}') is distinct from '${own}' then
      raise exception 'another engine has the database' using errcode = '${REFUSED}';
    end if;
  end $$`);
  return async (transaction) => {
    try {
      await check.execute(transaction);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === REFUSED) return false;
      throw error;
    }
  };
}

const NUMBER = prepareQuery((db, { name }: { readonly name: string }) =>
  db.selectFrom('installation').select('value').where('name', '=', name).compile(),
);

async function numberIn(transaction: Transaction<Tables>): Promise<string | null> {
  return (await NUMBER.first(transaction, { name: NAME }))?.value ?? null;
}

function lost(): ParleyError {
  return new ParleyError(
    'data_directory_locked',
    'Cannot store anything more: another engine has taken the database over',
    {
      remedy:
        'let one engine use it; a folder that hosts share needs a file system whose locks hold between them',
    },
  );
}
