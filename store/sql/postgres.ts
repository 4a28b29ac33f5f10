/**
 * PostgreSQL through a pool that the caller made.
 * Owns the shape a pool must have, and what a server must be; must not know how a pool is configured, nor import a driver.
 */
import { Kysely, PostgresDialect, sql, type PostgresPool } from 'kysely';
import { ParleyError } from '../../core/parley-error.ts';
import type { Tables } from '../schema/tables.ts';

/** What `pg.Pool` is, as far as the store needs it. Closing the store ends the pool. */
export type StorePool = PostgresPool;

/** The oldest maintained version that reports how a transaction ended, by an id of 64 bits. */
const VERSION_MIN = 14;

export function openPostgres(pool: StorePool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** @throws ParleyError store_unavailable */
export async function requireUsableServer(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ readonly version: string; readonly encoding: string }>`
    select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding
  `.execute(db);
  const [{ version, encoding } = { version: '0', encoding: '' }] = rows;
  const major = Math.floor(Number(version) / 10_000);
  if (major < VERSION_MIN) {
    const message = `Cannot open the store: PostgreSQL ${major} is older than ${VERSION_MIN}`;
    throw new ParleyError('store_unavailable', message, { remedy: `use PostgreSQL ${VERSION_MIN} or later` });
  }
  if (encoding === 'UTF8') return;
  const message = `Cannot open the store: the encoding of the database is ${encoding} and not UTF8`;
  const remedy = 'make one with "createdb --encoding UTF8 --template template0 NAME"';
  throw new ParleyError('store_unavailable', message, { remedy });
}
