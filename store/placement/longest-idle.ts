/**
 * The sandboxes that hold slots, for the choice of one that makes room (D17).
 * Owns the query; core/placement/longest-idle.ts chooses.
 */
import type { Kysely } from 'kysely';
import { sandboxId, type UserId } from '../../core/ids.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { SlotHolder } from '../../core/placement/longest-idle.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

/** Of one user, or of all. */
export async function slotHolders(db: Kysely<Tables>, userId: UserId | null): Promise<readonly SlotHolder[]> {
  const rows = await db
    .selectFrom('sandbox')
    .innerJoin('slot', 'slot.sandbox_id', 'sandbox.sandbox_id')
    .leftJoin('activity', 'activity.sandbox_id', 'sandbox.sandbox_id')
    .select([
      'sandbox.sandbox_id',
      'sandbox.available',
      'sandbox.draining',
      'sandbox.created_at',
      'sandbox.host',
      'sandbox.body',
      'activity.last_activity_at',
    ])
    .select((where) =>
      where
        .selectFrom('attachment')
        .leftJoin('conversation', 'conversation.conversation_id', 'attachment.conversation_id')
        .select((attachment) => attachment.fn.countAll().as('count'))
        .whereRef('attachment.sandbox_id', '=', 'sandbox.sandbox_id')
        .where(isAttached)
        .where((at) => at.or([at('conversation.at_work', 'is', null), at('conversation.at_work', '=', 1)]))
        .as('at_work'),
    )
    .$if(userId !== null, (query) => query.where('sandbox.user_id', '=', userId ?? ''))
    .execute();
  return rows.map((row) => ({
    sandboxId: sandboxId(row.sandbox_id),
    available: row.available === 1,
    draining: row.draining === 1,
    transition: (JSON.parse(row.body) as SandboxRow).transition,
    createdAt: safeInteger(row.created_at),
    lastActivityAt: safeInteger(row.last_activity_at ?? row.created_at),
    isAtWork: safeInteger(row.at_work ?? 0) > 0,
    host: row.host ?? undefined,
  }));
}
