/**
 * The last activity of each sandbox (D9).
 * Owns that the latest instant wins; must not decide what activity is.
 */
import type { ActivityStore } from '../../ports/record-store.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';

const TOUCH = prepareQuery((db, { id, at }: { readonly id: string; readonly at: number }) =>
  db
    .insertInto('activity')
    .values({ sandbox_id: id, last_activity_at: at })
    .onConflict((conflict) =>
      conflict
        .column('sandbox_id')
        .doUpdateSet({ last_activity_at: at })
        .where('activity.last_activity_at', '<', at),
    )
    .compile(),
);

const LAST = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('activity').select('last_activity_at').where('sandbox_id', '=', id).compile(),
);

export function activityStore(connection: StoreConnection): ActivityStore {
  return {
    async touch(sandboxId, at) {
      await connection.writeStatement(`note activity of the sandbox "${sandboxId}"`, (db) =>
        TOUCH.all(db, { id: sandboxId, at }),
      );
    },
    async lastActivityAt(sandboxId) {
      const row = await connection.read(`read the activity of the sandbox "${sandboxId}"`, (db) =>
        LAST.first(db, { id: sandboxId }),
      );
      return row === undefined ? null : safeInteger(row.last_activity_at);
    },
  };
}
