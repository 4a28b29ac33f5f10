/**
 * Idempotency keys and the requests they were used for.
 * Owns that a key has one request at a time, and how long it is remembered.
 */
import type { IdempotencyKeys } from '../../ports/idempotency-keys.ts';
import { columnText } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';

/** Longer than any client repeats a request; a later request with the key is a new one. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

export function idempotencyKeyStore(connection: StoreConnection): IdempotencyKeys {
  return {
    claim: ({ userId, target, key, mark, at }) =>
      connection.write(`note the use of an idempotency key for "${target}"`, async (transaction) => {
        await transaction
          .deleteFrom('idempotency_key')
          .where('used_at', '<=', at - KEPT_MS)
          .execute();
        const { mark: kept } = await transaction
          .insertInto('idempotency_key')
          .values({ user_id: userId, target: columnText(target), key: columnText(key), mark, used_at: at })
          // An update that changes at most the instant, so that the statement always returns the stored row.
          .onConflict((conflict) =>
            conflict.columns(['user_id', 'target', 'key']).doUpdateSet((row) => ({
              used_at: row
                .case()
                .when('idempotency_key.mark', '=', mark)
                .then(at)
                .else(row.ref('idempotency_key.used_at'))
                .end(),
            })),
          )
          .returning('mark')
          .executeTakeFirstOrThrow();
        return kept === mark;
      }),
  };
}
