/**
 * Slots: how many sandboxes may have their runtime up (D17).
 * Owns the count and the refusal, inside a transaction that holds the placement lock. Slots are given back by
 * projections and nowhere else.
 */
import type { Transaction } from 'kysely';
import type { SandboxId, UserId } from '../core/ids.ts';
import type { CapacityLimits, SlotOutcome } from '../ports/placement-store.ts';
import { safeInteger } from './column-value.ts';
import type { Tables } from './tables.ts';

export interface SlotRequest {
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
  readonly limits: CapacityLimits;
  readonly now: number;
}

/** Takes a slot; holding one already is success. The user's own limit is the one named when both are reached. */
export async function takeSlot(transaction: Transaction<Tables>, request: SlotRequest): Promise<SlotOutcome> {
  const { sandboxId, userId, limits, now } = request;
  const held = transaction.selectFrom('slot').select('sandbox_id').where('sandbox_id', '=', sandboxId);
  if ((await held.executeTakeFirst()) !== undefined) return { kind: 'granted' };
  const taken = await countSlots(transaction, userId);
  if (taken.user >= limits.userMax) return { kind: 'refused', limit: limits.userMax, current: taken.user };
  if (taken.installation >= limits.installationMax) {
    return { kind: 'refused', limit: limits.installationMax, current: taken.installation };
  }
  await transaction
    .insertInto('slot')
    .values({ sandbox_id: sandboxId, user_id: userId, taken_at: now })
    .execute();
  return { kind: 'granted' };
}

async function countSlots(
  transaction: Transaction<Tables>,
  userId: UserId,
): Promise<{ readonly installation: number; readonly user: number }> {
  const row = await transaction
    .selectFrom('slot')
    .select(({ fn }) => [
      fn.countAll().as('installation'),
      fn.countAll().filterWhere('user_id', '=', userId).as('user'),
    ])
    .executeTakeFirstOrThrow();
  return { installation: safeInteger(row.installation), user: safeInteger(row.user) };
}
