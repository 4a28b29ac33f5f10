/**
 * Sandboxes without an owner yet, as rows: booting, ready, leaving, or claimed.
 * Owns every change but the claim, which is part of placing; each change checks the current state first.
 */
import type { Insertable, Kysely, Selectable, Transaction } from 'kysely';
import { sandboxId } from '../../core/ids.ts';
import { NO_USER, type WarmSandbox } from '../../core/placement/warm-pool.ts';
import type { SlotOutcome } from '../../ports/placement-store.ts';
import type { WarmFigures, WarmPool, WarmUse } from '../../ports/warm-pool.ts';
import { takeSlot } from './capacity.ts';
import { safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import { holdLock, type StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

export function warmPoolStore(connection: StoreConnection): WarmPool {
  const alone = <T>(action: string, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> =>
    connection.write(action, async (transaction) => {
      await holdLock(connection, transaction, 'placement');
      return work(transaction);
    });
  return {
    held: (host) => connection.read('list the warm pool', (db) => held(db, host)),
    usable: (use) => connection.read('look into the warm pool', (db) => usable(db, use)),
    reserve: (request) => alone('reserve a warm sandbox', (transaction) => reserve(transaction, request)),
    ready: (id, now) =>
      alone(
        `note the warm sandbox "${id}"`,
        async (transaction) => (await READY.first(transaction, { id, now })) !== undefined,
      ),
    giveUp: (id) =>
      alone(
        `give up the warm sandbox "${id}"`,
        async (transaction) => (await GIVE_UP.first(transaction, { id })) !== undefined,
      ),
    removed: (id) =>
      alone(`forget the warm sandbox "${id}"`, async (transaction) => {
        if ((await REMOVE.first(transaction, { id })) !== undefined) await FREE_SLOT.all(transaction, { id });
      }),
    figures: () => connection.read('count the warm pool', figures),
  };
}

const COLUMNS = ['sandbox_id', 'state', 'spec', 'reserved_at', 'booted_at'] as const;

/** Without `claimed`, whose number only grows. Listed one by one, so that an index finds the others. */
const STATES: readonly WarmSandbox['state'][] = ['booting', 'ready', 'leaving'];

async function held(db: Kysely<Tables>, host?: string): Promise<readonly WarmSandbox[]> {
  const rows = await db
    .selectFrom('warm_sandbox')
    .select(COLUMNS)
    .where('state', 'in', STATES)
    .$if(host !== undefined, (query) => query.where('host', '=', host ?? ''))
    .orderBy('reserved_at')
    .orderBy('sandbox_id')
    .execute();
  return rows.map(warmSandboxOf);
}

type WarmRow = Pick<Selectable<Tables['warm_sandbox']>, (typeof COLUMNS)[number]>;

function warmSandboxOf(row: WarmRow): WarmSandbox {
  return {
    sandboxId: sandboxId(row.sandbox_id),
    // Only words of the closed vocabulary were ever written.
    state: row.state as WarmSandbox['state'],
    spec: row.spec,
    reservedAt: safeInteger(row.reserved_at),
    bootedAt: safeIntegerOrNull(row.booted_at),
  };
}

const USABLE = prepareQuery((db, { spec, after }: { readonly spec: string; readonly after: number }) =>
  db
    .selectFrom('warm_sandbox')
    .select(COLUMNS)
    .where('state', '=', 'ready')
    .where('booted_at', '>', after)
    .where('spec', '=', spec)
    .orderBy('booted_at')
    .orderBy('sandbox_id')
    .compile(),
);

const USABLE_ON = prepareQuery((db, { spec, after, host }: WarmOnHost) =>
  db
    .selectFrom('warm_sandbox')
    .innerJoin('host', 'host.name', 'warm_sandbox.host')
    .select(COLUMNS)
    .where('state', '=', 'ready')
    .where('booted_at', '>', after)
    .where('spec', '=', spec)
    .where('host.name', '=', host)
    // A draining host gives out no sandboxes.
    .where('host.draining', '=', 0)
    .orderBy('booted_at')
    .orderBy('sandbox_id')
    .compile(),
);

interface WarmOnHost {
  readonly spec: string;
  readonly after: number;
  readonly host: string;
}

async function usable(
  db: Kysely<Tables>,
  { spec, bootedAfter: after, host }: WarmUse,
): Promise<readonly WarmSandbox[]> {
  const rows =
    host === undefined
      ? await USABLE.all(db, { spec, after })
      : await USABLE_ON.all(db, { spec, after, host });
  return rows.map(warmSandboxOf);
}

const KNOWN = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('warm_sandbox').select('sandbox_id').where('sandbox_id', '=', id).compile(),
);

const ADD = prepareQuery((db, row: Insertable<Tables['warm_sandbox']>) =>
  db.insertInto('warm_sandbox').values(row).compile(),
);

async function reserve(
  transaction: Transaction<Tables>,
  request: Parameters<WarmPool['reserve']>[0],
): Promise<SlotOutcome> {
  const { sandboxId: id, spec, now, host: name } = request;
  if ((await KNOWN.first(transaction, { id })) !== undefined) return { kind: 'granted' };
  const limits = { ...request.limits, userMax: Infinity, conversationsPerSandboxMax: 0 };
  const host = limits.hosts && name !== undefined ? { ...limits.hosts, name } : undefined;
  const slot = await takeSlot(transaction, { sandboxId: id, userId: NO_USER, limits, now, host });
  if (slot.kind === 'no_host') return { kind: 'refused', limit: 0, current: 0 };
  if (slot.kind !== 'granted') return slot;
  const row = { sandbox_id: id, state: 'booting', spec, reserved_at: now, booted_at: null, claim: null };
  await ADD.all(transaction, { ...row, host: slot.host ?? null });
  return { kind: 'granted' };
}

const READY = prepareQuery((db, { id, now }: { readonly id: string; readonly now: number }) =>
  db
    .updateTable('warm_sandbox')
    .set({ state: 'ready', booted_at: now })
    .where('sandbox_id', '=', id)
    .where('state', '=', 'booting')
    .returning('sandbox_id')
    .compile(),
);

const GIVE_UP = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .updateTable('warm_sandbox')
    .set({ state: 'leaving' })
    .where('sandbox_id', '=', id)
    .where('state', 'in', ['booting', 'ready'])
    .returning('sandbox_id')
    .compile(),
);

const REMOVE = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .deleteFrom('warm_sandbox')
    .where('sandbox_id', '=', id)
    .where('state', '=', 'leaving')
    .returning('sandbox_id')
    .compile(),
);

const FREE_SLOT = prepareQuery((db, { id }: { readonly id: string }) =>
  db.deleteFrom('slot').where('sandbox_id', '=', id).compile(),
);

async function figures(db: Kysely<Tables>): Promise<WarmFigures> {
  const rows = await db
    .selectFrom('warm_sandbox')
    .select(['state', ({ fn }) => fn.countAll().as('count')])
    .where('state', 'in', STATES)
    .groupBy('state')
    .execute();
  const count = (state: WarmSandbox['state']): number =>
    safeInteger(rows.find((row) => row.state === state)?.count ?? 0);
  return { booting: count('booting'), ready: count('ready'), leaving: count('leaving') };
}
