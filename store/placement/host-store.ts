/**
 * Leases of hosts, and what is known of each.
 * Owns the comparison of fences, and that only the clock of the database counts; which host gets a sandbox is
 * decided by core/placement/choose-host.ts.
 */
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { HostCandidate, HostLabels } from '../../core/placement/choose-host.ts';
import { isReleased } from '../../core/sandbox/row.ts';
import type {
  HostClaim,
  HostLease,
  HostLeases,
  HostWay,
  LeasedHost,
  RenewedLease,
  TakenLease,
} from '../../ports/host-leases.ts';
import { columnText, flag, safeInteger } from '../sql/column-value.ts';
import { holdLock, type StoreConnection } from '../sql/connection.ts';
import type { Tables } from '../schema/tables.ts';
import { giveUp, lostSandboxes, stop } from './host-loss.ts';
import { storeNow } from './store-now.ts';

/** Of one query. */
const IDS_MAX = 500;
/** In the column `draining`, where 1 is a host that drains and keeps its released sandboxes. */
const ARCHIVES_RELEASED = 2;

export function hostStore(connection: StoreConnection): HostLeases {
  return {
    take: (claim) =>
      connection.write('take the lease of a host', async (transaction) => {
        // Placement reads these rows.
        await holdLock(connection, transaction, 'placement');
        return await take(transaction, claim);
      }),
    renew: (lease, leaseMs) =>
      connection.write(`renew the lease of the host "${lease.name}"`, (transaction) =>
        renew(transaction, { ...lease, leaseMs }),
      ),
    list: () => connection.read('list the hosts', (db) => listHosts(db)),
    drain: (name, draining, { archivesReleased = false } = {}) =>
      connection.write(`drain the host "${name}"`, async (transaction) => {
        const kept = draining && archivesReleased ? ARCHIVES_RELEASED : flag(draining);
        const update = transaction.updateTable('host').set({ draining: kept });
        const found = await update.where('name', '=', columnText(name)).returning('name').execute();
        return found.length > 0;
      }),
    stop: (lease) =>
      connection.write(`end the lease of the host "${lease.name}"`, (transaction) =>
        stop(transaction, lease),
      ),
    giveUp: (loss) =>
      connection.write(`give up the host "${loss.name}"`, async (transaction) => {
        // No sandbox is placed there meanwhile.
        await holdLock(connection, transaction, 'placement');
        return await giveUp(transaction, loss);
      }),
    lostSandboxes: (max) =>
      connection.read('list the sandboxes of lost hosts', (db) => lostSandboxes(db, max)),
    releasedOn: (name, max) =>
      connection.read('list what was released on a host', (db) => releasedOn(db, name, max)),
    hostsOf: (ids) => connection.read('find the hosts of sandboxes', (db) => hostsOf(db, ids)),
    wayTo: (id) => connection.read('find the way to a sandbox', (db) => wayTo(db, id)),
  };
}

async function take(transaction: Transaction<Tables>, claim: HostClaim): Promise<TakenLease> {
  const { directory, leaseMs, runtime, capacity, version, relay } = claim;
  const hosts = await listHosts(transaction);
  const own = await ofDirectory(transaction, directory);
  const name = columnText(claim.name ?? own?.name ?? claim.fallbackName);
  const known = hosts.find((host) => host.name === name);
  const isOthers = known !== undefined && own?.name !== name;
  // Its lost sandboxes may still have commands in the queues that carry this name.
  if (isOthers && (known.isLive || known.sandboxes + known.lost > 0)) throw takenName(known);
  if (own !== undefined && own.name !== name)
    await leaveName(
      transaction,
      hosts.find((host) => host.name === own.name),
      name,
    );
  const fence = (known?.fence ?? 0) + 1;
  const at = storeNow(transaction);
  const labels = JSON.stringify(claim.labels);
  const facts = { directory, runtime, capacity, version, relay, labels, fence };
  const lease = { heartbeat_at: at, lease_until: sql<number>`${at} + ${sql.lit(leaseMs)}`, ended: null };
  await transaction
    .insertInto('host')
    .values({ name, ...facts, ...lease, draining: 0 })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ ...facts, ...lease }))
    .execute();
  await adopt(transaction, { name, directory });
  return { name, fence, ...(own?.ended === 'lost' ? { wasLost: true } : {}) };
}

/** Sandboxes from before there were hosts live in the one directory that the database belonged to. */
async function adopt(
  transaction: Transaction<Tables>,
  { name: host, directory }: Pick<HostClaim, 'directory'> & { readonly name: string },
): Promise<void> {
  const claimed = await transaction
    .selectFrom('installation')
    .select('value')
    .where('name', '=', 'data_directory')
    .executeTakeFirst();
  if (claimed?.value !== directory) return;
  await transaction
    .updateTable('sandbox')
    .set({ host })
    .where('host', 'is', null)
    .where('status', '!=', 'MISSING')
    .execute();
  await transaction.updateTable('slot').set({ host }).where('host', 'is', null).execute();
  await transaction.updateTable('warm_sandbox').set({ host }).where('host', 'is', null).execute();
}

async function ofDirectory(
  transaction: Transaction<Tables>,
  directory: string,
): Promise<Pick<Selectable<Tables['host']>, 'name' | 'ended'> | undefined> {
  const query = transaction.selectFrom('host').select(['name', 'ended']).where('directory', '=', directory);
  return await query.executeTakeFirst();
}

/** Refuses a new name for a host with sandboxes, which would then belong to no host. */
async function leaveName(
  transaction: Transaction<Tables>,
  before: LeasedHost | undefined,
  name: string,
): Promise<void> {
  if (before === undefined) return;
  if (before.sandboxes > 0)
    throw new ParleyError(
      'engine_misconfigured',
      `Cannot call this host "${name}": its data directory is that of the host "${before.name}", where ${before.sandboxes} sandboxes live`,
      { remedy: `set host.name to ${before.name}, or delete these sandboxes first` },
    );
  await transaction.deleteFrom('host').where('name', '=', before.name).execute();
}

function takenName({ name, isLive, sandboxes, lost }: LeasedHost): ParleyError {
  const why = isLive
    ? 'another data directory serves under it'
    : sandboxes > 0
      ? `${sandboxes} sandboxes live in another data directory`
      : `${lost} sandboxes of another data directory are being given up`;
  return new ParleyError('engine_misconfigured', `Cannot use the name "${name}" for this host: ${why}`, {
    remedy: 'set host.name or PARLEY_HOST_NAME to a name of its own',
  });
}

async function renew(
  transaction: Transaction<Tables>,
  { name, fence, leaseMs }: HostLease & { readonly leaseMs: number },
): Promise<RenewedLease> {
  const at = storeNow(transaction);
  const row = await transaction
    .updateTable('host')
    .set({ heartbeat_at: at, lease_until: sql<number>`${at} + ${sql.lit(leaseMs)}`, ended: null })
    .where('name', '=', name)
    .where('fence', '=', fence)
    .returning('draining')
    .executeTakeFirst();
  return row === undefined
    ? { isHeld: false, draining: false }
    : { isHeld: true, draining: row.draining !== 0 };
}

/** What placement needs of hosts, without a count over all sandboxes that ever lived there. */
export async function hostCandidates(db: Kysely<Tables>): Promise<readonly HostCandidate[]> {
  const rows = await hostRows(db).execute();
  return rows.map(candidateOf);
}

function hostRows(db: Kysely<Tables>) {
  return db
    .selectFrom('host')
    .selectAll()
    .select((from) => [
      sql<number>`case when lease_until > ${storeNow(db)} then 1 else 0 end`.as('is_live'),
      from
        .selectFrom('slot')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('slot.host', '=', 'host.name')
        .as('up'),
    ])
    .orderBy('name');
}

function candidateOf(row: HostRow): HostCandidate {
  return {
    name: row.name,
    runtime: row.runtime,
    capacity: safeInteger(row.capacity),
    up: safeInteger(row.up ?? 0),
    labels: JSON.parse(row.labels) as HostLabels,
    isLive: row.is_live === 1,
    draining: row.draining !== 0,
  };
}

type HostRow = Selectable<Tables['host']> & {
  readonly is_live: number;
  readonly up: number | bigint | string | null;
};

async function listHosts(db: Kysely<Tables>): Promise<readonly LeasedHost[]> {
  const rows = await hostRows(db)
    .select((from) => {
      const there = from
        .selectFrom('sandbox')
        .select(({ fn }) => fn.countAll().as('count'))
        .whereRef('sandbox.host', '=', 'host.name')
        .where('sandbox.status', '!=', 'MISSING');
      return [there.where('lost', '=', 0).as('sandboxes'), there.where('lost', '=', 1).as('lost')];
    })
    .execute();
  return rows.map((row) => ({
    ...candidateOf(row),
    version: row.version,
    relay: row.relay,
    fence: safeInteger(row.fence),
    heartbeatAt: safeInteger(row.heartbeat_at),
    leaseUntil: safeInteger(row.lease_until),
    ended: row.ended,
    archivesReleased: row.draining === ARCHIVES_RELEASED,
    sandboxes: safeInteger(row.sandboxes ?? 0),
    lost: safeInteger(row.lost ?? 0),
  }));
}

async function releasedOn(db: Kysely<Tables>, name: string, max: number): Promise<readonly SandboxId[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select('body')
    .where('host', '=', columnText(name))
    .where('status', '=', 'PAUSED')
    // A sandbox that is up has an agent that waits.
    .where('available', '=', 0)
    .where('lost', '=', 0)
    .limit(max)
    .execute();
  const found = rows.map(({ body }) => JSON.parse(body) as SandboxRow);
  return found.filter(isReleased).map(({ sandboxId: id }) => id);
}

async function hostsOf(
  db: Kysely<Tables>,
  ids: readonly SandboxId[],
): Promise<ReadonlyMap<SandboxId, string>> {
  const found = new Map<SandboxId, string>();
  for (let start = 0; start < ids.length; start += IDS_MAX) {
    const rows = await db
      .selectFrom('sandbox')
      .select(['sandbox_id', 'host'])
      .where('sandbox_id', 'in', ids.slice(start, start + IDS_MAX))
      .where('host', 'is not', null)
      // For a sandbox that is gone no host is needed: any host with access to the records can answer.
      .where('status', '!=', 'MISSING')
      .execute();
    for (const { sandbox_id: id, host } of rows) if (host !== null) found.set(sandboxId(id), host);
  }
  return found;
}

async function wayTo(db: Kysely<Tables>, id: SandboxId): Promise<HostWay | null> {
  const row = await db
    .selectFrom('sandbox')
    .innerJoin('host', 'host.name', 'sandbox.host')
    .select(['host.name', 'host.relay'])
    .where('sandbox.sandbox_id', '=', id)
    .where('sandbox.status', '!=', 'MISSING')
    .executeTakeFirst();
  return row === undefined ? null : { host: row.name, relay: row.relay };
}
