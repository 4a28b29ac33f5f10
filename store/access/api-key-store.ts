/**
 * Keys of the application API, by their SHA-256 (D5).
 * Owns the rows; whether a key is in force is the caller's to see.
 */
import type { Selectable } from 'kysely';
import { userId as asUserId } from '../../core/ids.ts';
import { KEY_SCOPES, type ApiKey, type ApiKeyStore } from '../../ports/api-keys.ts';
import { columnTextOrNull, safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

const FIND = prepareQuery((db, { sha256 }: { readonly sha256: string }) =>
  db.selectFrom('api_key').selectAll().where('sha256', '=', sha256).compile(),
);

export function apiKeyStore(connection: StoreConnection): ApiKeyStore {
  return {
    add: (key, sha256, countMax) =>
      connection.write('store an API key', async (transaction) => {
        const { length } = await transaction
          .selectFrom('api_key')
          .select('key_id')
          .where('user_id', '=', key.userId)
          .execute();
        if (length >= countMax) return null;
        const row = await transaction
          .insertInto('api_key')
          .values({
            user_id: key.userId,
            sha256,
            name: columnTextOrNull(key.name),
            scope: key.scope,
            created_at: key.createdAt,
            not_before: key.notBefore,
            expires_at: key.expiresAt,
            last_used_at: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        return keyOf(row);
      }),
    findByHash: (sha256) =>
      connection.read('look up an API key', async (db) => {
        const row = await FIND.first(db, { sha256 });
        return row === undefined ? null : keyOf(row);
      }),
    async noteUse(keyId, at) {
      await connection.write('note the use of an API key', (transaction) =>
        transaction.updateTable('api_key').set({ last_used_at: at }).where('key_id', '=', keyId).execute(),
      );
    },
    list: (userId) =>
      connection.read('list API keys', async (db) => {
        const rows = await db
          .selectFrom('api_key')
          .selectAll()
          .where('user_id', '=', userId)
          .orderBy('key_id')
          .execute();
        return rows.map(keyOf);
      }),
    remove: (userId, keyId) =>
      connection.write('remove an API key', async (transaction) => {
        const removed = await transaction
          .deleteFrom('api_key')
          .where('key_id', '=', keyId)
          .$if(userId !== null, (own) => own.where('user_id', '=', userId ?? ''))
          .returning('key_id')
          .execute();
        return removed.length > 0;
      }),
    hasAny: () =>
      connection.read('look for API keys', async (db) => {
        const rows = await db.selectFrom('api_key').select('key_id').limit(1).execute();
        return rows.length > 0;
      }),
  };
}

function keyOf(row: Selectable<Tables['api_key']>): ApiKey {
  return {
    keyId: safeInteger(row.key_id),
    userId: asUserId(row.user_id),
    name: row.name,
    // The narrower one for a word that this program does not know.
    scope: KEY_SCOPES.find((scope) => scope === row.scope) ?? 'user',
    createdAt: safeInteger(row.created_at),
    notBefore: safeIntegerOrNull(row.not_before),
    expiresAt: safeIntegerOrNull(row.expires_at),
    lastUsedAt: safeIntegerOrNull(row.last_used_at),
  };
}
