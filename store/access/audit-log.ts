/**
 * Who changed what, in order.
 * Owns the rows; nothing in the program changes or removes one.
 */
import { sql, type RawBuilder } from 'kysely';
import type { AuditFilter, AuditLog } from '../../ports/audit-log.ts';
import { columnText, columnTextOrNull, safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import type { Dialect, StoreConnection } from '../sql/connection.ts';

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
    entries: ({ before, limit, filter = {} }) =>
      connection.read('read the audit log', async (db) => {
        const rows = await db
          .selectFrom('audit')
          .selectAll()
          .where(sql<boolean>`${sql.join(conditions(connection.dialect, before, filter), sql` and `)}`)
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

function conditions(
  dialect: Dialect,
  before: number | null,
  { userId, action, aboutContains, from, until, outcome }: AuditFilter,
): readonly RawBuilder<unknown>[] {
  const where = dialect === 'sqlite' ? sql`instr` : sql`strpos`;
  return [
    // True of every entry, and what makes both dialects begin in an index.
    before === null ? sql`position > 0` : sql`position < ${before}`,
    ...(userId === undefined ? [] : [sql`user_id = ${columnText(userId)}`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(aboutContains === undefined
      ? []
      : [sql`${where}(lower(about), lower(${columnText(aboutContains)})) > 0`]),
    ...(from === undefined ? [] : [sql`at >= ${from}`]),
    ...(until === undefined ? [] : [sql`at < ${until}`]),
    ...(outcome === undefined ? [] : [outcome === 'done' ? sql`status < 400` : sql`status >= 400`]),
  ];
}
