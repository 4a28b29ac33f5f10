/**
 * Which sandbox may be paused to make room (D17).
 * Owns the query; whether it is paused is decided by its machine.
 */
import type { Kysely } from 'kysely';
import { sandboxId, type SandboxId, type UserId } from '../../core/ids.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

/** Sandboxes that hold a slot and are on their way down: each gives it back soon. */
export async function countLeaving(db: Kysely<Tables>, userId: UserId | null): Promise<number> {
  const rows = await db
    .selectFrom('sandbox')
    .innerJoin('slot', 'slot.sandbox_id', 'sandbox.sandbox_id')
    .select('sandbox.body')
    .where('sandbox.available', '=', 0)
    .$if(userId !== null, (query) => query.where('sandbox.user_id', '=', userId ?? ''))
    .execute();
  return rows.filter(({ body }) => LEAVING.has((JSON.parse(body) as SandboxRow).transition)).length;
}

const LEAVING: ReadonlySet<SandboxRow['transition']> = new Set(['pausing', 'archiving', 'deleting']);

/**
 * Of the sandboxes that hold a slot and are up: the one whose last activity is longest ago and where no attached
 * conversation is at work. One that was attached and has no record yet is at work: its start goes on.
 */
export async function longestIdle(
  db: Kysely<Tables>,
  userId: UserId | null,
  hosts?: readonly string[],
): Promise<SandboxId | null> {
  const row = await db
    .selectFrom('sandbox')
    .innerJoin('slot', 'slot.sandbox_id', 'sandbox.sandbox_id')
    .leftJoin('activity', 'activity.sandbox_id', 'sandbox.sandbox_id')
    .select('sandbox.sandbox_id')
    .where('sandbox.available', '=', 1)
    .where('sandbox.draining', '=', 0)
    .where('sandbox.status', 'in', ['RUNNING', 'PAUSED'])
    .$if(userId !== null, (query) => query.where('sandbox.user_id', '=', userId ?? ''))
    .$if(hosts !== undefined, (query) => query.where('sandbox.host', 'in', hosts ?? []))
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('attachment')
            .leftJoin('conversation', 'conversation.conversation_id', 'attachment.conversation_id')
            .select('attachment.conversation_id')
            .whereRef('attachment.sandbox_id', '=', 'sandbox.sandbox_id')
            .where(isAttached)
            .where((busy) =>
              busy.or([busy('conversation.at_work', 'is', null), busy('conversation.at_work', '=', 1)]),
            ),
        ),
      ),
    )
    .orderBy((order) => order.fn.coalesce('activity.last_activity_at', 'sandbox.created_at'))
    .orderBy('sandbox.created_at')
    .orderBy('sandbox.sandbox_id')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : sandboxId(row.sandbox_id);
}
