/**
 * Virtual keys of the proxy (D5): only digests and what each key allows.
 * Owns the table; must not know how a key is made or checked.
 */
import { sql } from 'kysely';
import { ParleyError } from '../../core/parley-error.ts';
import type { ProxyKeyRecord, ProxyKeyStore } from '../../ports/proxy-keys.ts';
import { columnText } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';

const FIND = prepareQuery((db, { hash }: { readonly hash: string }) =>
  db.selectFrom('proxy_key').select('body').where('hash', '=', hash).compile(),
);

export function proxyKeyStore(connection: StoreConnection): ProxyKeyStore {
  return {
    put: (record) => put(connection, record),
    async find(hash) {
      const row = await connection.read('read a virtual key', (db) => FIND.first(db, { hash }));
      return row === undefined ? null : keyRecord(row.body);
    },
    async list() {
      const rows = await connection.read('list the virtual keys', (db) =>
        db.selectFrom('proxy_key').select('body').orderBy('created_at').orderBy('name').execute(),
      );
      return rows.map((row) => keyRecord(row.body));
    },
    page: ({ afterName, nameContains, limit }) =>
      connection.read('read a page of virtual keys', async (db) => {
        const where = connection.dialect === 'sqlite' ? sql`instr` : sql`strpos`;
        const { rows } = await sql<{ readonly body: string }>`select body from proxy_key
          where name > ${columnText(afterName ?? '')}
          and (${nameContains} = '' or ${where}(lower(name), lower(${columnText(nameContains)})) > 0)
          order by name limit ${limit}`.execute(db);
        return rows.map((row) => keyRecord(row.body));
      }),
    remove: (hash) =>
      connection.write('remove a virtual key', async (transaction) => {
        const result = await transaction.deleteFrom('proxy_key').where('hash', '=', hash).executeTakeFirst();
        return Number(result.numDeletedRows) > 0;
      }),
  };
}

async function put(connection: StoreConnection, record: ProxyKeyRecord): Promise<void> {
  const columns = { name: record.name, created_at: record.createdAt, body: JSON.stringify(record) };
  await connection.write('store a virtual key', async (transaction) => {
    const other = await transaction
      .selectFrom('proxy_key')
      .select('hash')
      .where('name', '=', record.name)
      .where('hash', '!=', record.hash)
      .executeTakeFirst();
    if (other !== undefined) {
      throw new ParleyError(
        'store_conflict',
        `Cannot store the virtual key "${record.name}": another has this name`,
      );
    }
    await transaction
      .insertInto('proxy_key')
      .values({ hash: record.hash, ...columns })
      .onConflict((conflict) => conflict.column('hash').doUpdateSet(columns))
      .execute();
  });
}

/** Only records that `put` wrote are there. */
function keyRecord(body: string): ProxyKeyRecord {
  return JSON.parse(body) as ProxyKeyRecord;
}
