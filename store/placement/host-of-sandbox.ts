/**
 * On which host a sandbox lives, from its reservation to its end.
 * Owns the column; it is written once, because what lies on a disk does not move.
 */
import type { Transaction } from 'kysely';
import type { SandboxId } from '../../core/ids.ts';
import type { HostRequirement } from '../../core/placement/choose-host.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

const BIND = prepareQuery((db, { id, host }: { readonly id: string; readonly host: string }) =>
  db.updateTable('sandbox').set({ host }).where('sandbox_id', '=', id).where('host', 'is', null).compile(),
);

export async function bindToHost(
  transaction: Transaction<Tables>,
  id: SandboxId,
  host: string,
): Promise<void> {
  await BIND.all(transaction, { id, host });
}

const HOST = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .selectFrom('sandbox')
    .innerJoin('host', 'host.name', 'sandbox.host')
    .select(['host.name', 'host.runtime'])
    .where('sandbox_id', '=', id)
    .compile(),
);

/** The one host that can resume it, also while that one drains; undefined: any can. */
export async function hostToReturnTo(
  transaction: Transaction<Tables>,
  id: SandboxId,
): Promise<HostRequirement | undefined> {
  const found = await HOST.first(transaction, { id });
  if (found === undefined) return undefined;
  return { ...found, strategy: 'spread', alsoDraining: true };
}
