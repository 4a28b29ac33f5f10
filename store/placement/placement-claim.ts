/**
 * Claims on a sandbox by a run that wants to let it go.
 * Owns who is attached, and the mark that keeps others out, in one transaction; core/placement/claim.ts decides.
 */
import type { Transaction } from 'kysely';
import { claimOf, type ClaimOutcome } from '../../core/placement/claim.ts';
import type { PlacementStore } from '../../ports/placement-store.ts';
import { isPlaceTaken } from './placement-pool.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

/** Attached conversations with the run they belong to; one without a record yet belongs to nobody we know. */
const ATTACHED = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .selectFrom('attachment')
    .leftJoin('conversation', 'conversation.conversation_id', 'attachment.conversation_id')
    .select(['conversation.run_id as runId', 'conversation.at_work as atWork'])
    .where('attachment.sandbox_id', '=', id)
    .where(isAttached)
    .compile(),
);

const MARK_DRAINING = prepareQuery((db, { id }: { readonly id: string }) =>
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
