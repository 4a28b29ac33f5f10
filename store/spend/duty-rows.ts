/**
 * Which of the processes over one database holds each duty.
 * Owns that two processes with running leases never hold the same duty: the unique id of a process is the fence.
 */
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type { Duty, PeerFacts, ServingPeer } from '../../ports/proxy-peers.ts';
import { safeIntegerOrNull } from '../sql/column-value.ts';
import type { Dialect } from '../sql/connection.ts';
import { databaseNow } from '../sql/database-now.ts';
import type { Tables } from '../schema/tables.ts';

/** A duty, and its last holder; `peer` null: the holder has left. */
interface Known {
  readonly name: string;
  readonly holder: string;
  readonly peer: string | null;
  readonly is_live: number;
}

interface Claim {
  readonly holder: string;
  readonly duties: readonly Duty[];
}

/** For a process that has just renewed its lease. Read first, so that a duty with a live holder is not written. */
export async function lead(
  transaction: Transaction<Tables>,
  dialect: Dialect,
  { holder, duties }: Claim,
): Promise<readonly Duty[]> {
  const known = new Map((await knownDuties(transaction, dialect)).map((duty) => [duty.name, duty] as const));
  const led: Duty[] = [];
  for (const name of duties) {
    const duty = known.get(name);
    const isOurs =
      duty?.is_live === 1
        ? duty.holder === holder
        : await take(transaction, dialect, { name, holder, before: duty });
    if (isOurs) led.push(name);
  }
  return led;
}

interface Taking {
  readonly name: Duty;
  readonly holder: string;
  readonly before: Known | undefined;
}

/** Of two processes that take one at once, the second finds another holder than it has read. */
async function take(
  transaction: Transaction<Tables>,
  dialect: Dialect,
  { name, holder, before }: Taking,
): Promise<boolean> {
  if (before === undefined) {
    const first = transaction.insertInto('duty').values({ name, holder });
    return (
      (
        await first
          .onConflict((any) => any.doNothing())
          .returning('name')
          .execute()
      ).length > 0
    );
  }
  // A holder that was silent for long may renew its lease right now: then it keeps the duty, or comes after us.
  if (before.peer !== null && !(await isOver(transaction, dialect, before.peer))) return false;
  const next = transaction.updateTable('duty').set({ holder }).where('name', '=', name);
  return (await next.where('holder', '=', before.holder).returning('name').execute()).length > 0;
}

/** If it is over, it stays so until the end of the transaction. */
async function isOver(transaction: Transaction<Tables>, dialect: Dialect, id: string): Promise<boolean> {
  const lease = await transaction
    .selectFrom('proxy_peer')
    .select(isLive(dialect).as('is_live'))
    .where('id', '=', id)
    .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked())
    .executeTakeFirst();
  return lease?.is_live === 0;
}

/** Processes with running leases, and the duties of each. */
export async function serving(db: Kysely<Tables>, dialect: Dialect): Promise<readonly ServingPeer[]> {
  const peers = await db
    .selectFrom('proxy_peer')
    .select(['id', 'kind', 'name', 'configuration', 'configuration_refused'])
    .where('expires_at', '>', databaseNow(dialect))
    .orderBy('kind')
    .orderBy('name')
    .execute();
  const duties = await knownDuties(db, dialect);
  return peers.map(({ id, kind, name, configuration, configuration_refused: refused }) => ({
    // Only words of the closed vocabulary were ever written.
    kind: kind as PeerFacts['kind'],
    name,
    leads: duties.filter(({ holder }) => holder === id).map((duty) => duty.name as Duty),
    configuration: { version: safeIntegerOrNull(configuration), refused },
  }));
}

async function knownDuties(db: Kysely<Tables>, dialect: Dialect): Promise<readonly Known[]> {
  return await db
    .selectFrom('duty')
    .leftJoin('proxy_peer', 'proxy_peer.id', 'duty.holder')
    .select(['duty.name', 'holder', 'proxy_peer.id as peer', isLive(dialect).as('is_live')])
    .orderBy('duty.name')
    .execute();
}

function isLive(dialect: Dialect): RawBuilder<number> {
  return sql<number>`case when proxy_peer.expires_at > ${databaseNow(dialect)} then 1 else 0 end`;
}
