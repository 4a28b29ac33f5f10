/**
 * PostgreSQL through a pool that the caller made.
 * Owns the shape a pool must have; must not know how a pool is configured, nor import a driver.
 */
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import type { Tables } from './tables.ts';

/** What `pg.Pool` is, as far as the store needs it. Closing the store ends the pool. */
export type StorePool = PostgresPool;

export function openPostgres(pool: StorePool): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
