/**
 * Shares of limits that several proxies have in common.
 * Owns the row of each account, under whose lock every share changes; how it is divided is core/money/lease.ts.
 */
import { sql, type Transaction } from 'kysely';
import { decideLease } from '../../core/money/lease.ts';
import type {
  LeaseAccount,
  LeaseAnswer,
  LeaseExchange,
  LeaseUnit,
  SpendLeases,
} from '../../ports/spend-leases.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { Dialect, StoreConnection } from '../sql/connection.ts';
import { databaseNow } from '../sql/database-now.ts';
import type { Tables } from '../schema/tables.ts';

/** A waiting proxy requests again several times within it; one that is gone blocks the others no longer than this. */
const WAITER_MS = 2_000;

export function spendLeases(connection: StoreConnection): SpendLeases {
  const { dialect } = connection;
  return {
    exchange: (asked) =>
      connection.write('share a limit', (transaction) => exchange(transaction, dialect, asked)),
    settle: (holder) =>
      connection.write('settle the limits of a proxy', (transaction) =>
        settle(transaction, dialect, { holder, isWhole: true }),
      ),
  };
}

interface AccountRow {
  readonly spent: number;
  /** Empty when the waiter has left. */
  readonly waiter: string;
  readonly now: number;
}

async function exchange(
  transaction: Transaction<Tables>,
  dialect: Dialect,
  asked: LeaseExchange,
): Promise<LeaseAnswer> {
  const { account, holder } = asked;
  if (asked.earlier !== null) await open(transaction, account, asked.earlier);
  const row = await lock(transaction, dialect, account);
  if (row === null) return { kind: 'unknown' };
  // Read under the lock, which a process that gives the holder up takes as well.
  const peer = await transaction
    .selectFrom('proxy_peer')
    .select('id')
    .where('id', '=', holder)
    .executeTakeFirst();
  if (peer === undefined) return { kind: 'lost' };
  const { own, others } = await shares(transaction, account, holder);
  const spent = row.spent + asked.charged;
  const isWanted = row.waiter !== '' && row.waiter !== holder;
  const share = decideLease({ limit: asked.limit, spent, others }, { ...asked, isBehind: isWanted });
  await put(transaction, asked, { granted: share.granted, reported: own.reported + asked.charged });
  await transaction
    .updateTable('spend_account')
    .set({ spent, ...waiterAfter(row, holder, share.isAnswered) })
    .where(isAccount(account))
    .execute();
  return { kind: 'standing', granted: share.granted, spent, others, isWanted };
}

/** The first waiting proxy stays in front until it gets its share, or stops requesting. */
function waiterAfter({ waiter, now }: AccountRow, holder: string, isAnswered: boolean) {
  if (!isAnswered && (waiter === '' || waiter === holder))
    return { waiter: holder, waiter_until: now + WAITER_MS };
  return isAnswered && waiter === holder ? { waiter: '', waiter_until: 0 } : {};
}

async function open(transaction: Transaction<Tables>, account: LeaseAccount, spent: number): Promise<void> {
  await transaction
    .insertInto('spend_account')
    .values({ ...columns(account), spent, waiter: '', waiter_until: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** SQLite has one transaction at a time anyway. */
async function lock(
  transaction: Transaction<Tables>,
  dialect: Dialect,
  account: LeaseAccount,
): Promise<AccountRow | null> {
  const query = transaction
    .selectFrom('spend_account')
    .select(['spent', 'waiter', 'waiter_until', databaseNow(dialect).as('now')])
    .where(isAccount(account));
  const row = await (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
  if (row === undefined) return null;
  const now = Number(row.now);
  const waiter = safeInteger(row.waiter_until) > now ? row.waiter : '';
  return { spent: safeInteger(row.spent), waiter, now };
}

async function shares(
  transaction: Transaction<Tables>,
  account: LeaseAccount,
  holder: string,
): Promise<{ readonly own: { readonly reported: number }; readonly others: number }> {
  const rows = await transaction
    .selectFrom('spend_lease')
    .select(['holder', 'granted', 'reported'])
    .where(isAccount(account))
    .execute();
  const own = rows.find((row) => row.holder === holder);
  const others = rows.reduce((sum, row) => sum + (row.holder === holder ? 0 : safeInteger(row.granted)), 0);
  return { own: { reported: safeInteger(own?.reported ?? 0) }, others };
}

async function put(
  transaction: Transaction<Tables>,
  { account, holder }: LeaseExchange,
  share: { readonly granted: number; readonly reported: number },
): Promise<void> {
  await transaction
    .insertInto('spend_lease')
    .values({ holder, ...columns(account), ...share })
    .onConflict((conflict) => conflict.columns(['unit', 'owner', 'window_from', 'holder']).doUpdateSet(share))
    .execute();
}

/**
 * A holder that was given up has no share left, and its rows show what it used; while some of them may be missing, what
 * it reported itself counts. Accounts are locked in the order of their names, so that two settlements never wait for
 * each other.
 */
export async function settle(
  transaction: Transaction<Tables>,
  dialect: Dialect,
  { holder, isWhole }: { readonly holder: string; readonly isWhole: boolean },
): Promise<void> {
  const leases = await transaction
    .selectFrom('spend_lease')
    .selectAll()
    .where('holder', '=', holder)
    .orderBy('unit')
    .orderBy('owner')
    .orderBy('window_from')
    .execute();
  for (const lease of leases) {
    const account: LeaseAccount = {
      unit: lease.unit as LeaseUnit,
      owner: lease.owner,
      windowFrom: safeInteger(lease.window_from),
    };
    const row = await lock(transaction, dialect, account);
    if (row === null) continue;
    const known = await transaction
      .selectFrom('spend_lease')
      .select('reported')
      .where('holder', '=', holder)
      .where(isAccount(account))
      .executeTakeFirst();
    const reported = safeInteger(known?.reported ?? 0);
    const used = await usedBy(transaction, account, holder);
    const grown = used === null ? 0 : Math.max(used - reported, isWhole ? -row.spent : 0);
    await transaction
      .updateTable('spend_lease')
      .set({ granted: 0, reported: reported + grown })
      .where('holder', '=', holder)
      .where(isAccount(account))
      .execute();
    await transaction
      .updateTable('spend_account')
      .set({ spent: row.spent + grown })
      .where(isAccount(account))
      .execute();
  }
}

/** What the holder used, by its rows; null for units without rows, which come back by the minute or at a call's end. */
async function usedBy(
  transaction: Transaction<Tables>,
  { unit, owner, windowFrom }: LeaseAccount,
  holder: string,
): Promise<number | null> {
  if (unit !== 'run_nano_usd' && unit !== 'key_nano_usd') return null;
  const row = await transaction
    .selectFrom('spend')
    .select(sql<number>`coalesce(sum(coalesce(cost_nano_usd, held_nano_usd)), 0)`.as('used'))
    .where('proxy_id', '=', holder)
    .where('state', '!=', 'open')
    .where('started_at', '>=', windowFrom)
    .where(unit === 'run_nano_usd' ? 'run_id' : 'key_name', '=', owner)
    .executeTakeFirst();
  return Number(row?.used ?? 0);
}

function columns({ unit, owner, windowFrom }: LeaseAccount) {
  return { unit, owner, window_from: windowFrom };
}

function isAccount({ unit, owner, windowFrom }: LeaseAccount) {
  return sql<boolean>`unit = ${unit} and owner = ${owner} and window_from = ${windowFrom}`;
}
