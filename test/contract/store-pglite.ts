/**
 * PostgreSQL inside the test process, behind the pool that the store wants.
 * Owns taking turns: there is one connection, so a client waits until the one before it is released.
 */
import type { PGlite } from '@electric-sql/pglite';
import type { PostgresPoolClient } from 'kysely';
import type { StorePool } from '../../store/sql/postgres.ts';

/** A pool over `server`; ending it leaves the server running, for the next store of the same test. */
export function pglitePool(server: PGlite): StorePool {
  let last = Promise.resolve();
  return {
    async connect() {
      const before = last;
      let release = (): void => undefined;
      last = new Promise((resolve) => {
        release = resolve;
      });
      await before;
      return { query: queryOf(server), release };
    },
    end: () => last,
  };
}

function queryOf(server: PGlite): PostgresPoolClient['query'] {
  const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    const { rows, affectedRows } = await server.query(text, [...values]);
    return { command: text.trimStart().split(/\s/, 1)[0]?.toUpperCase(), rowCount: affectedRows ?? 0, rows };
  };
  return query as PostgresPoolClient['query'];
}

/** Removes every table, so that the next test opens a new store. */
export async function emptyServer(server: PGlite): Promise<void> {
  await server.exec('drop schema public cascade; create schema public');
}
