/**
 * A store on a real PostgreSQL that counts: what was asked of it, what it committed, and its statements.
 * Owns the server, its database and the reading of the server's own statistics.
 */
import { startPostgres } from '../../../scripts/postgres-server.ts';
import { parsePostgresUrl } from '../../../store/sql/postgres-address.ts';
import { createPostgresPool } from '../../../store/sql/postgres-pool.ts';
import { openStore, type Store } from '../../../store/open-store.ts';
import type { Counts } from './core-calls.ts';

const DATABASE = 'bench';
const CONNECTIONS_MAX = 20;

export interface StoreCounts {
  readonly commits: number;
  /** By text, parameters left out. */
  readonly statements: Counts;
  /** By `PART.METHOD` of the store. */
  readonly calls: Counts;
}

export interface CountedStore {
  open(): Promise<Store>;
  /** Counts from here. The server says what a connection did once it rests. */
  reset(): Promise<void>;
  /** To be called after the store was closed: what its connections did is all there then. */
  read(): Promise<StoreCounts>;
  close(): Promise<void>;
}

export async function countedStore(): Promise<CountedStore> {
  const server = await startPostgres({ settings: { shared_preload_libraries: 'pg_stat_statements' } });
  const url = await server.createDatabase(DATABASE);
  await server.run('create extension pg_stat_statements');
  const calls = new Map<string, number>();
  const commits = async (): Promise<number> => {
    const [row] = await server.run(`select xact_commit from pg_stat_database where datname = '${DATABASE}'`);
    return Number(row?.['xact_commit']);
  };
  let before = 0;
  return {
    async open() {
      const options = { poolMax: CONNECTIONS_MAX, statementTimeoutMs: 0, tls: null, schema: null };
      const address = parsePostgresUrl(url);
      const use = { readOnly: false, name: DATABASE };
      // Migrations have connections of their own, and are not counted.
      await (
        await openStore({ kind: 'postgres', pool: createPostgresPool({ address, ...options }, use) })
      ).close();
      const pool = createPostgresPool({ address, ...options }, use);
      return counting(await openStore({ kind: 'postgres', pool }), calls);
    },
    async reset() {
      calls.clear();
      before = await commits();
      await server.run('select pg_stat_statements_reset()');
    },
    async read() {
      const rows = await server.run(
        `select query, calls from pg_stat_statements s join pg_database d on d.oid = s.dbid where datname = '${DATABASE}'`,
      );
      const statements = new Map<string, number>();
      for (const { query, calls: count } of rows) {
        const text = String(query).replaceAll(/\s+/g, ' ');
        statements.set(text, (statements.get(text) ?? 0) + Number(count));
      }
      return { commits: (await commits()) - before, statements, calls: new Map(calls) };
    },
    close: () => server.close(),
  };
}

/** The same store; every call of a method of its parts is counted. */
function counting(store: Store, calls: Map<string, number>): Store {
  const counted = <Part extends object>(name: string, part: Part): Part =>
    new Proxy(part, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]): unknown => {
          const call = `${name}.${String(key)}`;
          calls.set(call, (calls.get(call) ?? 0) + 1);
          return Reflect.apply(value, target, args);
        };
      },
    });
  const parts = Object.entries(store).map(([name, part]: [string, unknown]) => [
    name,
    typeof part === 'object' && part !== null ? counted(name, part) : part,
  ]);
  return {
    ...(Object.fromEntries(parts) as Store),
    vault: (sealKey, options) => counted('vault', store.vault(sealKey, options)),
  };
}
