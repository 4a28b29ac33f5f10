/**
 * Versions of the configuration that processes over one database share.
 * Owns that each is written once and follows the one before; must not interpret its text.
 */
import type { Kysely } from 'kysely';
import type { ConfigurationVersion, SharedConfiguration } from '../../ports/shared-configuration.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import type { Tables } from '../schema/tables.ts';

/** A process that cannot use the newest version uses an earlier one; it never needs more versions than these. */
const VERSIONS_KEPT = 100;

export function configurationStore(connection: StoreConnection): SharedConfiguration {
  return {
    newest: (below) => connection.read('read the configuration', (db) => newest(db, below)),
    put: ({ version, text }, at) =>
      connection.write('save the configuration', async (transaction) => {
        if (((await newest(transaction))?.version ?? 0) !== version - 1) return false;
        // Of two processes that have read the same version, the second finds the row of the first.
        const written = await transaction
          .insertInto('configuration')
          .values({ version, text: columnText(text), at })
          .onConflict((conflict) => conflict.doNothing())
          .returning('version')
          .execute();
        await transaction
          .deleteFrom('configuration')
          .where('version', '<=', version - VERSIONS_KEPT)
          .execute();
        return written.length > 0;
      }),
  };
}

async function newest(db: Kysely<Tables>, below?: number): Promise<ConfigurationVersion | null> {
  const row = await db
    .selectFrom('configuration')
    .select(['version', 'text'])
    .$if(below !== undefined, (query) => query.where('version', '<', below ?? 0))
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { version: safeInteger(row.version), text: row.text };
}
