/**
 * Who changed what, in order.
 * Owns the rows; nothing in the program changes or removes one.
 */
import type { AuditLog } from '../../ports/audit-log.ts';
import { columnText, columnTextOrNull, safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';

export function auditLog(connection: StoreConnection): AuditLog {
  return {
    async append({ at, userId, keyId, action, about, status }) {
      await connection.write('write the audit log', (transaction) =>
        transaction
          .insertInto('audit')
          .values({
            at,
            user_id: columnTextOrNull(userId),
            key_id: keyId,
            action,
            about: columnText(about),
            status,
          })
          .execute(),
      );
    },
    entries: ({ before, limit }) =>
      connection.read('read the audit log', async (db) => {
        const rows = await db
          .selectFrom('audit')
          .selectAll()
          .$if(before !== null, (query) => query.where('position', '<', before ?? 0))
          .orderBy('position', 'desc')
          .limit(limit)
          .execute();
        return rows.map((row) => ({
          position: safeInteger(row.position),
          at: safeInteger(row.at),
          userId: row.user_id,
          keyId: safeIntegerOrNull(row.key_id),
          action: row.action,
          about: row.about,
          status: safeInteger(row.status),
        }));
      }),
  };
}
