/**
 * Who is in a sandbox, when a conversation leaves it or a run wants to let it go.
 * Owns the attachments that are read, and the mark that keeps others out, inside a transaction that holds the placement
 * lock; core/placement/claim.ts decides.
 */
import type { Transaction } from 'kysely';
import { sandboxId, type ConversationId, type SandboxId } from '../../core/ids.ts';
import { claimOf, goesWhenEmpty, type ClaimOutcome } from '../../core/placement/claim.ts';
import type { PlacementStore } from '../../ports/placement-store.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { isPlaceTaken } from './placement-pool.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { endReserved } from './reserved-sandbox.ts';
import { leaveLine } from './slot-line.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

interface Key {
  readonly id: string;
}

/** Attached conversations with the run they belong to; one without a record yet belongs to no run we know. */
const ATTACHED = prepareQuery((db, { id }: Key) =>
  db
    .selectFrom('attachment')
    .leftJoin('conversation', 'conversation.conversation_id', 'attachment.conversation_id')
    .select(['conversation.run_id as runId', 'conversation.at_work as atWork'])
    .where('attachment.sandbox_id', '=', id)
    .where(isAttached)
    .compile(),
);

const DETACH = prepareQuery((db, { id }: Key) =>
  db
    .updateTable('attachment')
    .set({ detached: 1 })
    .where('conversation_id', '=', id)
    .returning('sandbox_id')
    .compile(),
);

const OCCUPANCY = prepareQuery((db, { id }: Key) =>
  db
    .selectFrom('sandbox')
    .select((from) => [
      'created_by',
      from
        .selectFrom('attachment')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('attachment.sandbox_id', '=', id)
        .where(isAttached)
        .as('attached'),
    ])
    .where('sandbox_id', '=', id)
    .compile(),
);

const MARK_DRAINING = prepareQuery((db, { id }: Key) =>
  db.updateTable('sandbox').set({ draining: 1 }).where('sandbox_id', '=', id).compile(),
);

export async function claim(
  transaction: Transaction<Tables>,
  { sandboxId: id, runId, toRemove, onlyAtRest = false }: Parameters<PlacementStore['claim']>[0],
): Promise<ClaimOutcome> {
  const attached = await ATTACHED.all(transaction, { id });
  const outcome = claimOf(
    attached.map((row) => ({ isOurs: row.runId === runId, isAtWork: row.atWork !== 0 })),
    { onlyAtRest, isPlaceTaken: await isPlaceTaken(transaction, id, runId) },
  );
  if (outcome === 'ours' && toRemove) await MARK_DRAINING.all(transaction, { id });
  return outcome;
}

/** The decision about the sandbox and its mark are one transaction: no placement comes in between (D11). */
export async function detach(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  conversation: ConversationId,
): Promise<{ readonly sandboxId: SandboxId | null; readonly sandboxToRemove: boolean }> {
  await leaveLine(transaction, conversation);
  const detached = await DETACH.first(transaction, { id: conversation });
  if (detached === undefined) return { sandboxId: null, sandboxToRemove: false };
  const id = sandboxId(detached.sandbox_id);
  return { sandboxId: id, sandboxToRemove: await drainIfEmpty(connection, transaction, id) };
}

/** True when it goes: no conversation is placed there from now on. */
export async function drainIfEmpty(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  id: SandboxId,
): Promise<boolean> {
  const found = await OCCUPANCY.first(transaction, { id });
  if (found === undefined || !goesWhenEmpty(safeInteger(found.attached ?? 0), found.created_by)) return false;
  await MARK_DRAINING.all(transaction, { id });
  await endReserved(connection, transaction, id);
  return true;
}
