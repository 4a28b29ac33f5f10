/**
 * Slots: how many sandboxes may have their runtime up (D17).
 * Owns the count and the refusal, inside a transaction that holds the placement lock. Slots are given back by
 * projections and nowhere else.
 */
import type { Insertable, Kysely, Transaction } from 'kysely';
import type { ConversationId, SandboxId, UserId } from '../core/ids.ts';
import { isTurnOf, turnsOf, type SlotCounts, type Waiter } from '../core/placement/line.ts';
import type { CapacityLimits, SlotOutcome } from '../ports/placement-store.ts';
import { safeInteger } from './column-value.ts';
import { prepareQuery } from './prepared-query.ts';
import { slotLine, slotsByUser } from './slot-line.ts';
import type { SlotTable, Tables } from './tables.ts';

export interface SlotRequest {
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
  readonly limits: CapacityLimits;
  readonly now: number;
  /** For whom the slot is; absent for nobody in the line. */
  readonly waiterId?: ConversationId;
}

/**
 * Takes a slot; holding one already is success. The user's own limit is the one named when both are reached. What is
 * free for somebody in the line is not free for anybody behind (D29).
 */
export async function takeSlot(transaction: Transaction<Tables>, request: SlotRequest): Promise<SlotOutcome> {
  const { sandboxId, userId, limits, now } = request;
  const taken = await countSlots(transaction, { sandboxId, userId });
  if (taken.own > 0) return { kind: 'granted' };
  if (taken.user >= limits.userMax) return { kind: 'refused', limit: limits.userMax, current: taken.user };
  if (taken.installation >= limits.installationMax) {
    return { kind: 'refused', limit: limits.installationMax, current: taken.installation };
  }
  const line = await slotLine(transaction, now);
  if (line.length > 0 && !(await isTurn(transaction, request, line)))
    return { kind: 'refused', limit: limits.userMax, current: taken.user };
  await TAKE.all(transaction, { sandbox_id: sandboxId, user_id: userId, taken_at: now });
  return { kind: 'granted' };
}

async function isTurn(
  transaction: Transaction<Tables>,
  { userId, limits, waiterId }: SlotRequest,
  line: readonly Waiter[],
): Promise<boolean> {
  return isTurnOf({ waiterId: waiterId ?? '', userId }, line, await slotCounts(transaction, limits));
}

/** For whom of the line there is a slot now. */
export async function nextInLine(
  db: Kysely<Tables>,
  limits: CapacityLimits,
  now: number,
): Promise<readonly ConversationId[]> {
  const line = await slotLine(db, now);
  if (line.length === 0) return [];
  return turnsOf(line, await slotCounts(db, limits)).map(({ waiterId }) => waiterId);
}

async function slotCounts(
  db: Kysely<Tables>,
  { installationMax, userMax }: CapacityLimits,
): Promise<SlotCounts> {
  const byUser = await slotsByUser(db);
  const taken = [...byUser.values()].reduce((sum, count) => sum + count, 0);
  return { installationMax, userMax, taken, takenBy: (user) => byUser.get(user) ?? 0 };
}

/** Why the user gets no further slot; null when there is one. Says nothing about the installation (D17). */
export async function userRefusal(
  transaction: Transaction<Tables>,
  { sandboxId, userId, limits }: SlotRequest,
): Promise<Extract<SlotOutcome, { readonly kind: 'refused' }> | null> {
  const { user: current } = await countSlots(transaction, { sandboxId, userId });
  return current >= limits.userMax ? { kind: 'refused', limit: limits.userMax, current } : null;
}

/** A slot that is there gets another user: the installation has as many as before. */
export async function takeOverSlot(transaction: Transaction<Tables>, request: SlotRequest): Promise<void> {
  const { sandboxId, userId, now } = request;
  await TAKE_OVER.all(transaction, { sandboxId, userId, now });
}

const TAKE_OVER = prepareQuery((db, { sandboxId, userId, now }: SlotOwner & { readonly now: number }) =>
  db
    .updateTable('slot')
    .set({ user_id: userId, taken_at: now })
    .where('sandbox_id', '=', sandboxId)
    .compile(),
);

const TAKE = prepareQuery((db, row: Insertable<SlotTable>) => db.insertInto('slot').values(row).compile());

/** Counts without a condition on other columns: each is answered from an index alone. */
const COUNT = prepareQuery((db, { sandboxId, userId }: SlotOwner) =>
  db
    .selectNoFrom((from) => [
      from
        .selectFrom('slot')
        .select(({ fn }) => fn.countAll().as('count'))
        .as('installation'),
      from
        .selectFrom('slot')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('user_id', '=', userId)
        .as('user'),
      from
        .selectFrom('slot')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('sandbox_id', '=', sandboxId)
        .as('own'),
    ])
    .compile(),
);

interface SlotOwner {
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
}

async function countSlots(
  transaction: Transaction<Tables>,
  owner: SlotOwner,
): Promise<{ readonly installation: number; readonly user: number; readonly own: number }> {
  const row = await COUNT.first(transaction, owner);
  const count = (value: number | bigint | string | null | undefined): number => safeInteger(value ?? 0);
  return { installation: count(row?.installation), user: count(row?.user), own: count(row?.own) };
}
