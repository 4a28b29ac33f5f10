/**
 * Whether a slot for a resume is still wanted when its transaction runs.
 * Owns the look at the record: a resume that was given up meanwhile would leave its slot taken, with nobody to give it back.
 */
import type { Transaction } from 'kysely';
import type { SandboxRow } from '../core/projection.ts';
import type { PlacementStore, SlotOutcome } from '../ports/placement-store.ts';
import { prepareQuery } from './prepared-query.ts';
import type { Tables } from './tables.ts';

/** The answer comes too late for its machine. */
export const NOT_WANTED: SlotOutcome = { kind: 'not_wanted' };

const RECORD = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('sandbox').select('body').where('sandbox_id', '=', id).compile(),
);

/** A sandbox without a record has no machine that could have given up. */
export async function isWanted(
  transaction: Transaction<Tables>,
  { sandboxId: id, generation }: Parameters<PlacementStore['reserveSlot']>[0],
): Promise<boolean> {
  const found = await RECORD.first(transaction, { id });
  if (found === undefined) return true;
  const record = JSON.parse(found.body) as SandboxRow;
  return record.transition === 'resuming' && record.generation === generation;
}
