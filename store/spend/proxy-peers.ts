/**
 * The processes over one database: who serves, who is dead, and when something changed that all of them keep in memory.
 * Owns their leases, by the database's own clock; must not divide a limit.
 */
import { sql, type Transaction } from 'kysely';
import type { Duty, PeerNews, ProxyPeers } from '../../ports/proxy-peers.ts';
import type { ConfigurationStanding } from '../../ports/shared-configuration.ts';
import { columnText, columnTextOrNull, safeInteger } from '../sql/column-value.ts';
import type { Dialect, StoreConnection } from '../sql/connection.ts';
import { databaseNow } from '../sql/database-now.ts';
import type { Tables } from '../schema/tables.ts';
import { lead, serving } from './duty-rows.ts';
import { settle } from './spend-leases.ts';

const REVISION = 'keys and models';

export function proxyPeers(connection: StoreConnection): ProxyPeers {
  const { dialect } = connection;
  const now = databaseNow(dialect);
  return {
    join: (id, leaseMs, { kind, name }) =>
      connection.write('join the other proxies', async (transaction) => {
        const other = await transaction
          .selectFrom('proxy_peer')
          .select('id')
          .where('id', '!=', id)
          .where('kind', '!=', 'api')
          .where('expires_at', '>', now)
          .executeTakeFirst();
        const lease = { expires_at: sql<number>`${now} + ${sql.lit(leaseMs)}`, kind, name: columnText(name) };
        await transaction
          .insertInto('proxy_peer')
          .values({ id, ...lease })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(lease))
          .execute();
        return other === undefined;
      }),
    beat: (id, leaseMs, duties, standing) =>
      connection.write('renew the lease of the proxy', (transaction) =>
        beat(transaction, dialect, { id, leaseMs, duties, standing }),
      ),
    retire: (id, at) =>
      connection.write('give up a proxy', async (transaction) => {
        await transaction.deleteFrom('proxy_peer').where('id', '=', id).execute();
        await transaction
          .updateTable('spend')
          .set({ state: 'interrupted', ended_at: at })
          .where('proxy_id', '=', id)
          .where('state', '=', 'open')
          .execute();
        await settle(transaction, dialect, { holder: id, isWhole: false });
      }),
    announce: () =>
      connection.write('tell the other proxies', async (transaction) => {
        await transaction
          .insertInto('proxy_revision')
          .values({ name: REVISION, revision: 1 })
          .onConflict((conflict) =>
            conflict.column('name').doUpdateSet({ revision: sql<number>`proxy_revision.revision + 1` }),
          )
          .execute();
      }),
    serving: () => connection.read('list the processes that serve', (db) => serving(db, dialect)),
  };
}

interface Beating {
  readonly id: string;
  readonly leaseMs: number;
  readonly duties: readonly Duty[];
  readonly standing: ConfigurationStanding | undefined;
}

async function beat(
  transaction: Transaction<Tables>,
  dialect: Dialect,
  { id, leaseMs, duties, standing }: Beating,
): Promise<PeerNews> {
  const now = databaseNow(dialect);
  const own = await transaction
    .updateTable('proxy_peer')
    .set({
      expires_at: sql<number>`${now} + ${sql.lit(leaseMs)}`,
      configuration: standing?.version ?? null,
      configuration_refused: columnTextOrNull(standing?.refused ?? null),
    })
    .where('id', '=', id)
    .executeTakeFirst();
  const newest = await transaction
    .selectFrom('configuration')
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirst();
  const expired = await transaction
    .selectFrom('proxy_peer')
    .select('id')
    .where('id', '!=', id)
    .where('expires_at', '<=', now)
    .orderBy('id')
    .execute();
  const isKnown = safeInteger(own.numUpdatedRows) > 0;
  return {
    isKnown,
    revision: await revision(transaction),
    configuration: safeInteger(newest?.version ?? 0),
    expired: expired.map((row) => row.id),
    leads: isKnown && duties.length > 0 ? await lead(transaction, dialect, { holder: id, duties }) : [],
  };
}

async function revision(transaction: Transaction<Tables>): Promise<number> {
  const row = await transaction
    .selectFrom('proxy_revision')
    .select('revision')
    .where('name', '=', REVISION)
    .executeTakeFirst();
  return safeInteger(row?.revision ?? 0);
}
