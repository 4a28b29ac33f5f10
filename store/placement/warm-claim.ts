/**
 * Claims on the warm pool: one of its sandboxes gets an owner, exactly once.
 * Owns the comparison and the change in the placing transaction; the caller chooses one and checks its health before.
 */
import type { Transaction } from 'kysely';
import { sandboxId as asSandboxId, type SandboxId, type UserId } from '../../core/ids.ts';
import { fitsPin, type HostLabels, type HostPin } from '../../core/placement/choose-host.ts';
import type { FullSlots } from '../../core/placement/line.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { CapacityLimits } from '../../ports/placement-store.ts';
import { takeOverSlot, warmRefusal } from './capacity.ts';
import { safeInteger } from '../sql/column-value.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { recordReserved } from './reserved-sandbox.ts';
import type { Tables } from '../schema/tables.ts';

export interface WarmClaimRequest {
  readonly warm: SandboxId;
  /** Id that a new sandbox would have got; a repeat uses the same one. */
  readonly newSandboxId: SandboxId;
  readonly userId: UserId;
  readonly createdBy: SandboxRow['createdBy'];
  readonly limits: CapacityLimits;
  readonly now: number;
  /** As for a slot. */
  readonly waiterId?: string;
}

export type WarmClaimOutcome =
  { readonly kind: 'claimed'; readonly bootedAt: number } | FullSlots | { readonly kind: 'warm_lost' };

/** Compare-and-swap: claims it only while it is ready and has no owner. */
const CLAIM = prepareQuery((db, { warm, claim }: { readonly warm: string; readonly claim: string }) =>
  db
    .updateTable('warm_sandbox')
    .set({ state: 'claimed', claim })
    .where('sandbox_id', '=', warm)
    .where('state', '=', 'ready')
    .returning(['booted_at', 'host'])
    .compile(),
);

const HOST_OF_WARM = prepareQuery((db, { warm }: { readonly warm: string }) =>
  db
    .selectFrom('warm_sandbox')
    .innerJoin('host', 'host.name', 'warm_sandbox.host')
    .select(['host.name', 'host.labels'])
    .where('sandbox_id', '=', warm)
    .compile(),
);

/** Whether its host fits the pin of the request; otherwise it is left to other requests. */
export async function fitsWarm(
  transaction: Transaction<Tables>,
  warm: SandboxId,
  pin: HostPin | undefined,
): Promise<boolean> {
  if (pin === undefined) return true;
  const host = await HOST_OF_WARM.first(transaction, { warm });
  return host !== undefined && fitsPin({ ...host, labels: JSON.parse(host.labels) as HostLabels }, pin);
}

/** The limit of the user is the same as for a new one (D17), and is checked first: a refusal claims nothing. */
export async function claimWarm(
  transaction: Transaction<Tables>,
  request: WarmClaimRequest,
): Promise<WarmClaimOutcome> {
  const { warm, newSandboxId, userId, createdBy, limits, now, waiterId } = request;
  const slot = { sandboxId: warm, userId, limits, now, waiterId };
  const refusal = await warmRefusal(transaction, slot);
  if (refusal !== null) return refusal;
  const claimed = await CLAIM.first(transaction, { warm, claim: newSandboxId });
  if (claimed === undefined) return { kind: 'warm_lost' };
  const bootedAt = safeInteger(claimed.booted_at ?? now);
  await takeOverSlot(transaction, slot);
  const host = claimed.host ?? undefined;
  await recordReserved(transaction, { sandboxId: warm, userId, createdBy, now, bootedAt, host });
  return { kind: 'claimed', bootedAt };
}

const CLAIMED_FOR = prepareQuery((db, { claim }: { readonly claim: string }) =>
  db.selectFrom('warm_sandbox').select('sandbox_id').where('claim', '=', claim).limit(1).compile(),
);

/** The one that was claimed in place of a new sandbox with this id; null when there is none. */
export async function claimedFor(
  transaction: Transaction<Tables>,
  newSandboxId: SandboxId,
): Promise<SandboxId | null> {
  const found = await CLAIMED_FOR.first(transaction, { claim: newSandboxId });
  return found === undefined ? null : asSandboxId(found.sandbox_id);
}
