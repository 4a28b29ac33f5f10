/**
 * Sums over spend rows, and the removal of old ones into daily totals.
 * Owns that a call counts in exactly one of both tables; must not price or match.
 */
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely';
import { nanoUsd, type NanoUsd } from '../../core/money/money.ts';
import type { DailySpend, SpendAccounts } from '../../ports/spend-accounts.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

const DAY_MS = 86_400_000;
const GROUP = ['day', 'model_name', 'key_name', 'team', 'user'] as const;
const COUNTS = [
  'calls',
  'failed',
  'unpriced',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'cost_nano_usd',
] as const;

const SPENT = prepareQuery((db, { name, from }: { readonly name: string; readonly from: number }) =>
  db
    .selectFrom('spend')
    // Open rows count by their holds in memory, and rows of unknown cost by what budgets count for them (D30).
    .select(
      sql<number>`coalesce(sum(coalesce(cost_nano_usd, case when state = 'open' then 0 else held_nano_usd end)), 0)`.as(
        'cost',
      ),
    )
    .where('key_name', '=', name)
    .where('started_at', '>=', from)
    .compile(),
);

export function spendAccounts(connection: StoreConnection): SpendAccounts {
  return {
    async spentBy(keyName, from) {
      const row = await connection.read('sum the spend of a key', (db) =>
        SPENT.first(db, { name: keyName, from }),
      );
      return amount(row?.cost ?? 0);
    },
    async daily(interval) {
      const rows = await connection.read('sum spend by day', (db) => daily(db, interval));
      return rows.map(dailySpend);
    },
    fold: (before, limit) =>
      connection.write('fold old spend rows', (transaction) =>
        fold(connection, transaction, { before, limit }),
      ),
  };
}

/** Sums come as text or with a decimal point from one dialect; they are integers all the same. */
function amount(value: unknown): NanoUsd {
  return nanoUsd(Number(value));
}

const whole = sql<number>`count(*)`;
const failed = sql<number>`sum(case when state in ('failed', 'cut', 'aborted', 'interrupted') then 1 else 0 end)`;
const unpriced = sql<number>`sum(case when cost_nano_usd is null then 1 else 0 end)`;

/** The rows of `source` in groups; `started_at` is cut to its day. */
function grouped(db: Kysely<Tables>, ids: readonly string[] | null, interval: { from: number; to: number }) {
  const day = sql<number>`started_at - (started_at % ${sql.lit(DAY_MS)})`;
  let query = db
    .selectFrom('spend')
    .select([
      day.as('day'),
      'model_name',
      'key_name',
      sql<string>`coalesce(team, '')`.as('team'),
      sql<string>`coalesce("user", '')`.as('user'),
      whole.as('calls'),
      failed.as('failed'),
      unpriced.as('unpriced'),
      sql<number>`coalesce(sum(prompt_tokens), 0)`.as('prompt_tokens'),
      sql<number>`coalesce(sum(completion_tokens), 0)`.as('completion_tokens'),
      sql<number>`coalesce(sum(cached_tokens), 0)`.as('cached_tokens'),
      sql<number>`coalesce(sum(cost_nano_usd), 0)`.as('cost_nano_usd'),
    ])
    .where('started_at', '>=', interval.from)
    .where('started_at', '<', interval.to)
    .where('state', '!=', 'open')
    .groupBy([day, 'model_name', 'key_name', sql`coalesce(team, '')`, sql`coalesce("user", '')`]);
  if (ids !== null) query = query.where('call_id', 'in', ids);
  return query;
}

async function daily(
  db: Kysely<Tables>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly Selectable<Tables['spend_daily']>[]> {
  const first = Math.ceil(from / DAY_MS) * DAY_MS;
  const last = Math.ceil(to / DAY_MS) * DAY_MS;
  const present = await grouped(db, null, { from: first, to: last }).execute();
  const folded = await db
    .selectFrom('spend_daily')
    .selectAll()
    .where('day', '>=', first)
    .where('day', '<', last)
    .execute();
  const groups = new Map<string, Selectable<Tables['spend_daily']>>();
  for (const row of [...folded, ...present]) {
    const key = JSON.stringify(GROUP.map((name) => String(row[name])));
    const known = groups.get(key);
    groups.set(key, known === undefined ? row : added(known, row));
  }
  return [...groups.values()].sort(inOrder);
}

type DailyRow = Selectable<Tables['spend_daily']>;

function added(one: DailyRow, other: DailyRow): DailyRow {
  const sums = COUNTS.map((name) => [name, Number(one[name]) + Number(other[name])]);
  return { ...one, ...(Object.fromEntries(sums) as Pick<DailyRow, (typeof COUNTS)[number]>) };
}

function inOrder(one: DailyRow, other: DailyRow): number {
  for (const name of GROUP) {
    const [a, b] = name === 'day' ? [Number(one.day), Number(other.day)] : [one[name], other[name]];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}

function dailySpend(row: DailyRow): DailySpend {
  return {
    day: safeInteger(row.day),
    modelName: row.model_name,
    keyName: row.key_name,
    team: row.team === '' ? null : row.team,
    user: row.user === '' ? null : row.user,
    calls: Number(row.calls),
    failed: Number(row.failed),
    unpriced: Number(row.unpriced),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    cachedTokens: Number(row.cached_tokens),
    cost: amount(row.cost_nano_usd),
  };
}

async function fold(
  { dialect }: StoreConnection,
  db: Transaction<Tables>,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<number> {
  const old = await db
    .selectFrom('spend')
    .select('call_id')
    .where('started_at', '<', before)
    .where('state', '!=', 'open')
    .orderBy('started_at')
    .orderBy('call_id')
    .limit(limit)
    // Rows that another process is folding are in that process's sums.
    .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked())
    .execute();
  const ids = old.map((row) => row.call_id);
  if (ids.length === 0) return 0;
  for (const row of await grouped(db, ids, { from: 0, to: before }).execute()) {
    const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row[name])]));
    const values = { ...row, day: Number(row.day), ...counts } as DailyRow & Record<string, number>;
    await db
      .insertInto('spend_daily')
      .values(values as never)
      .onConflict((conflict) =>
        conflict
          .columns([...GROUP])
          .doUpdateSet((place) =>
            Object.fromEntries(
              COUNTS.map((name) => [
                name,
                sql`${place.ref(`spend_daily.${name}`)} + ${place.ref(`excluded.${name}`)}`,
              ]),
            ),
          ),
      )
      .execute();
  }
  await db.deleteFrom('spend').where('call_id', 'in', ids).execute();
  return ids.length;
}
