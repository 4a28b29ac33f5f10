/**
 * Placement and capacity: every call is one transaction, and only one runs at a time.
 * Owns reserving and recording; the choice itself is the pure `place` of the core (D16).
 */
import type { Transaction } from 'kysely';
import { sandboxId, type ConversationId, type SandboxId } from '../core/ids.ts';
import { place, type PlacementDecision } from '../core/place.ts';
import type { PlaceOutcome, PlaceRequest, PlacementStore, SlotOutcome } from '../ports/placement-store.ts';
import { takeSlot, type SlotRequest } from './capacity.ts';
import { flag, safeInteger } from './column-value.ts';
import { holdLock, type StoreConnection } from './connection.ts';
import { longestIdle } from './longest-idle.ts';
import { candidates } from './placement-candidates.ts';
import { recordReserved } from './reserved-sandbox.ts';
import type { Tables } from './tables.ts';
import { isAttached, isDeleted } from './tombstone.ts';

export function placementStore(connection: StoreConnection): PlacementStore {
  const alone = <T>(action: string, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> =>
    connection.write(action, async (transaction) => {
      await holdLock(connection, transaction, 'placement');
      return work(transaction);
    });
  return {
    place: (request) =>
      alone(`place the conversation "${request.conversationId}"`, async (transaction) =>
        (await isDeleted(connection, transaction, request.conversationId))
          ? refused('not_found', `Cannot place the conversation "${request.conversationId}": it was deleted`)
          : placeOnce(transaction, request),
      ),
    reserveSandbox: (request) =>
      alone(`reserve the sandbox "${request.sandboxId}"`, (transaction) =>
        reserveSandbox(transaction, request),
      ),
    reserveSlot: (request) =>
      alone(`reserve a slot for the sandbox "${request.sandboxId}"`, (transaction) =>
        takeSlot(transaction, request),
      ),
    detach: (id) => alone(`detach the conversation "${id}"`, (transaction) => detach(transaction, id)),
    longestIdle: (userId) =>
      connection.read('find the longest idle sandbox', (db) => longestIdle(db, userId)),
    async decision(id) {
      const row = await connection.read(`read the placement of the conversation "${id}"`, (db) =>
        db
          .selectFrom('placement_decision')
          .select('body')
          .where('conversation_id', '=', id)
          .executeTakeFirst(),
      );
      return row === undefined ? null : (JSON.parse(row.body) as PlacementDecision);
    },
  };
}

async function placeOnce(transaction: Transaction<Tables>, request: PlaceRequest): Promise<PlaceOutcome> {
  const recorded = await recordedPlacement(transaction, request.conversationId);
  if (recorded !== null && !request.excluded.includes(recorded.sandboxId)) return recorded;
  const placement = place({
    userId: request.userId,
    strategy: request.strategy,
    explicit: request.sandboxId,
    excluded: request.excluded,
    candidates: await candidates(transaction, request),
    conversationsPerSandboxMax: request.limits.conversationsPerSandboxMax,
    now: request.now,
  });
  switch (placement.kind) {
    case 'refused':
      return placement;
    case 'existing':
      return attach(transaction, request, {
        sandboxId: placement.sandboxId,
        decision: placement.decision,
        created: false,
      });
    case 'new':
      return placeInNew(transaction, request, placement.decision);
  }
}

async function recordedPlacement(
  transaction: Transaction<Tables>,
  id: ConversationId,
): Promise<Extract<PlaceOutcome, { kind: 'placed' }> | null> {
  const row = await transaction
    .selectFrom('attachment')
    .innerJoin('placement_decision', 'placement_decision.conversation_id', 'attachment.conversation_id')
    .select(['attachment.sandbox_id', 'placement_decision.created', 'placement_decision.body'])
    .where('attachment.conversation_id', '=', id)
    .where('attachment.detached', '=', 0)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    kind: 'placed',
    sandboxId: sandboxId(row.sandbox_id),
    created: row.created === 1,
    decision: JSON.parse(row.body) as PlacementDecision,
  };
}

/** Nothing is accepted when no slot is free (D17). */
async function placeInNew(
  transaction: Transaction<Tables>,
  request: PlaceRequest,
  decision: PlacementDecision,
): Promise<PlaceOutcome> {
  const { newSandboxId, userId, limits, now } = request;
  const slot = await takeSlot(transaction, { sandboxId: newSandboxId, userId, limits, now });
  if (slot.kind === 'refused') {
    return refused(
      'concurrency_limit_reached',
      `Cannot place the conversation: ${slot.current} sandboxes are up, and the limit is ${slot.limit}`,
    );
  }
  await recordReserved(transaction, { sandboxId: newSandboxId, userId, createdBy: 'placement', now });
  return attach(transaction, request, { sandboxId: newSandboxId, decision, created: true });
}

/** Also moves a conversation that the recorded sandbox refused: it is never attached to two. */
async function attach(
  transaction: Transaction<Tables>,
  request: PlaceRequest,
  chosen: { readonly sandboxId: SandboxId; readonly decision: PlacementDecision; readonly created: boolean },
): Promise<PlaceOutcome> {
  const attachment = { sandbox_id: chosen.sandboxId, attached_at: request.now, detached: 0 };
  const decision = { created: flag(chosen.created), body: JSON.stringify(chosen.decision) };
  await transaction
    .insertInto('attachment')
    .values({ conversation_id: request.conversationId, ...attachment })
    .onConflict((conflict) => conflict.column('conversation_id').doUpdateSet(attachment))
    .execute();
  await transaction
    .insertInto('placement_decision')
    .values({ conversation_id: request.conversationId, ...decision })
    .onConflict((conflict) => conflict.column('conversation_id').doUpdateSet(decision))
    .execute();
  return { kind: 'placed', sandboxId: chosen.sandboxId, created: chosen.created, decision: chosen.decision };
}

function refused(code: 'not_found' | 'concurrency_limit_reached', reason: string): PlaceOutcome {
  return { kind: 'refused', refusal: { code, reason } };
}

async function reserveSandbox(transaction: Transaction<Tables>, request: SlotRequest): Promise<SlotOutcome> {
  const known = transaction
    .selectFrom('sandbox')
    .select('sandbox_id')
    .where('sandbox_id', '=', request.sandboxId);
  if ((await known.executeTakeFirst()) !== undefined) return { kind: 'granted' };
  const slot = await takeSlot(transaction, request);
  if (slot.kind === 'granted') await recordReserved(transaction, { ...request, createdBy: 'api' });
  return slot;
}

/** The decision about the sandbox and its mark are one transaction: no placement comes in between (D11). */
async function detach(
  transaction: Transaction<Tables>,
  id: ConversationId,
): Promise<{ readonly sandboxId: SandboxId | null; readonly sandboxToRemove: boolean }> {
  const detached = await transaction
    .updateTable('attachment')
    .set({ detached: 1 })
    .where('conversation_id', '=', id)
    .returning('sandbox_id')
    .executeTakeFirst();
  if (detached === undefined) return { sandboxId: null, sandboxToRemove: false };
  const left = await transaction
    .selectFrom('attachment')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('sandbox_id', '=', detached.sandbox_id)
    .where(isAttached)
    .executeTakeFirstOrThrow();
  const marked =
    safeInteger(left.count) > 0
      ? undefined
      : await transaction
          .updateTable('sandbox')
          .set({ draining: 1 })
          .where('sandbox_id', '=', detached.sandbox_id)
          .where('created_by', '=', 'placement')
          .returning('sandbox_id')
          .executeTakeFirst();
  return { sandboxId: sandboxId(detached.sandbox_id), sandboxToRemove: marked !== undefined };
}
