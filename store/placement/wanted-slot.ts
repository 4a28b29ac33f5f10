/**
 * Whether a slot is still wanted when its transaction runs.
 * Owns the check of the record: a start or resume that was given up meanwhile would take a slot that no machine gives
 * back.
 */
import type { Transaction } from 'kysely';
import type { ConversationId } from '../../core/ids.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import { isResuming } from '../../core/sandbox/row.ts';
import type { PlacementStore } from '../../ports/placement-store.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

const SANDBOX = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('sandbox').select('body').where('sandbox_id', '=', id).compile(),
);

/** A sandbox without a record has no machine that could have given up. */
export async function isWanted(
  transaction: Transaction<Tables>,
  { sandboxId: id, generation }: Parameters<PlacementStore['reserveSlot']>[0],
): Promise<boolean> {
  const found = await SANDBOX.first(transaction, { id });
  return found === undefined || isResuming(JSON.parse(found.body) as SandboxRow, generation);
}

const CONVERSATION = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('conversation').select(['at_work', 'sandbox_id']).where('conversation_id', '=', id).compile(),
);

/** Its start is over and it was never placed. */
export async function hasGivenUp(transaction: Transaction<Tables>, id: ConversationId): Promise<boolean> {
  const row = await CONVERSATION.first(transaction, { id });
  return row !== undefined && row.at_work === 0 && row.sandbox_id === null;
}
