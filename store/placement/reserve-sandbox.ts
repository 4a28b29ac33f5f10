/**
 * Reserves sandboxes without a conversation, for users or ahead for the pool of a run: a record and a slot, or one of
 * the warm pool.
 * Owns what a repeat finds; inside a transaction that holds the placement lock.
 */
import type { Transaction } from 'kysely';
import type { SandboxId } from '../../core/ids.ts';
import type { PlacementStore, ReserveOutcome } from '../../ports/placement-store.ts';
import { takeSlot } from './capacity.ts';
import { isPoolGrown, joinPool } from './placement-pool.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { recordReserved } from './reserved-sandbox.ts';
import type { Tables } from '../schema/tables.ts';
import { claimedFor, claimWarm } from './warm-claim.ts';

const KNOWN = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('sandbox').select('sandbox_id').where('sandbox_id', '=', id).compile(),
);

export async function reserveSandbox(
  transaction: Transaction<Tables>,
  request: Parameters<PlacementStore['reserveSandbox']>[0],
): Promise<ReserveOutcome> {
  const { sandboxId: id, warm, pool } = request;
  if ((await KNOWN.first(transaction, { id })) !== undefined) return { kind: 'granted' };
  const before = await claimedFor(transaction, id);
  if (before !== null) return { kind: 'granted', sandboxId: before };
  if (warm !== undefined) return reserveWarm(transaction, { ...request, warm });
  const living = pool === undefined ? null : await isPoolGrown(transaction, pool);
  if (pool !== undefined && living !== null) return { kind: 'refused', limit: pool.size, current: living };
  const { hosts } = request.limits;
  const host = hosts === undefined ? undefined : { ...hosts, ...request.host };
  const slot = await takeSlot(transaction, { ...request, host });
  // No host is there: none has room.
  if (slot.kind === 'no_host') return { kind: 'refused', limit: 0, current: 0 };
  if (slot.kind === 'refused') return slot;
  const createdBy = pool === undefined ? 'api' : 'placement';
  await recordReserved(transaction, { ...request, createdBy, host: slot.host });
  if (pool !== undefined) await joinPool(transaction, id, pool.poolId);
  return { kind: 'granted' };
}

async function reserveWarm(
  transaction: Transaction<Tables>,
  request: Parameters<PlacementStore['reserveSandbox']>[0] & { readonly warm: SandboxId },
): Promise<ReserveOutcome> {
  const claim = { ...request, newSandboxId: request.sandboxId, createdBy: 'api' } as const;
  const outcome = await claimWarm(transaction, claim);
  return outcome.kind === 'claimed' ? { kind: 'granted', sandboxId: request.warm } : outcome;
}
