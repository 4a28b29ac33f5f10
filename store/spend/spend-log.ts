/**
 * Spend rows of the proxy (D26).
 * Owns that a call has one row and that a closed one never opens again; must not price or match.
 */
import { sql, type ExpressionBuilder, type Kysely } from 'kysely';
import { ParleyError } from '../../core/parley-error.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { SpendLoss } from '../../core/money/spend-loss.ts';
import type { JoinableCall, SpendRow, SpendRowState } from '../../core/money/spend.ts';
import type { CallPage, SpendLog, SpendQuery } from '../../ports/spend-log.ts';
import { columnText, flag, safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { beyond, type Bounds } from '../sql/keyset.ts';
import { prepareRows } from '../sql/prepared-query.ts';
import { JOINABLE_COLUMNS, joinableCalls, spendColumns, spendRow } from './spend-columns.ts';
import type { Tables } from '../schema/tables.ts';

/** Rows of one page at most: a page is held in memory whole. */
const PAGE_MAX = 1_000;
const PAGE_KEY: Bounds = { kind: 'number', value: sql.ref('started_at'), id: sql.ref('call_id') };

export function spendLog(connection: StoreConnection): SpendLog {
  return {
    write: (rows) => write(connection, rows),
    missing: (callIds) => missing(connection, callIds),
    noteLoss: (loss) => noteLoss(connection, loss),
    losses: () => losses(connection),
    search: (query) => search(connection, query),
    joinable: (page) => joinable(connection, page),
    interruptOpen: (at) => interruptOpen(connection, at),
  };
}

async function write(connection: StoreConnection, rows: readonly SpendRow[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = latestByCall(rows).map(spendColumns);
  await connection.write('write spend rows', (transaction) => PUT.execute(transaction, columns));
}

async function missing(connection: StoreConnection, callIds: readonly string[]): Promise<readonly string[]> {
  const unknown = new Set(callIds);
  for (let at = 0; at < callIds.length; at += PAGE_MAX) {
    const page = callIds.slice(at, at + PAGE_MAX);
    const rows = await connection.read('look for spend rows', (db) =>
      db.selectFrom('spend').select('call_id').where('call_id', 'in', page).execute(),
    );
    for (const row of rows) unknown.delete(row.call_id);
  }
  return [...unknown];
}

async function noteLoss(connection: StoreConnection, loss: SpendLoss): Promise<void> {
  await connection.write('write a loss of spend rows', (transaction) =>
    transaction
      .insertInto('spend_loss')
      .values({
        first_at: loss.from,
        last_at: loss.to,
        calls: loss.calls,
        cost_nano_usd: loss.costNanoUsd,
        may_be_more: flag(loss.mayBeMore),
        seen_at: loss.seenAt,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute(),
  );
}

async function losses(connection: StoreConnection): Promise<readonly SpendLoss[]> {
  const rows = await connection.read('read losses of spend rows', (db) =>
    db.selectFrom('spend_loss').selectAll().orderBy('first_at').orderBy('last_at').execute(),
  );
  return rows.map((row) => ({
    calls: safeInteger(row.calls),
    costNanoUsd: nanoUsd(safeInteger(row.cost_nano_usd)),
    from: safeInteger(row.first_at),
    to: safeInteger(row.last_at),
    mayBeMore: row.may_be_more === 1,
    seenAt: safeInteger(row.seen_at),
  }));
}

const PUT = prepareRows((db, rows: readonly ReturnType<typeof spendColumns>[]) => {
  const changed = Object.keys(rows[0] ?? {}).filter((column) => column !== 'call_id') as Column[];
  return db
    .insertInto('spend')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('call_id')
        .doUpdateSet((row) =>
          Object.fromEntries(changed.map((column) => [column, row.ref(`excluded.${column}`)])),
        )
        .where(mayReplaceStored),
    )
    .compile();
});

type Column = keyof Tables['spend'];

/** How much a state says: an answer is more than its loss, and both are more than a call that has just begun. */
const WEIGHT: Readonly<Record<SpendRowState, number>> = {
  open: 0,
  interrupted: 1,
  succeeded: 2,
  failed: 2,
  cut: 2,
  aborted: 2,
};

/** One statement may not touch a row twice; the same rule decides as against what is stored. */
function latestByCall(rows: readonly SpendRow[]): readonly SpendRow[] {
  const latest = new Map<string, SpendRow>();
  for (const row of rows) {
    const kept = latest.get(row.callId);
    if (kept === undefined || WEIGHT[row.state] >= WEIGHT[kept.state]) latest.set(row.callId, row);
  }
  return [...latest.values()];
}

/** The rule of `WEIGHT` in SQL. */
function mayReplaceStored(
  where: ExpressionBuilder<Tables & { excluded: Tables['spend'] }, 'spend' | 'excluded'>,
) {
  return where.or([
    where('excluded.state', 'not in', ['open', 'interrupted']),
    where('spend.state', '=', 'open'),
    where.and([where('excluded.state', '=', 'interrupted'), where('spend.state', '=', 'interrupted')]),
  ]);
}

/**
 * Tags and metadata are narrowed by the database and decided here, so that both dialects answer alike.
 * @throws ParleyError invalid_request when the limit is not 1..1000
 */
async function search(connection: StoreConnection, query: SpendQuery): Promise<readonly SpendRow[]> {
  const limit = limitOf(query);
  const isExact = query.tag === undefined && query.metadata === undefined;
  const found: SpendRow[] = [];
  let { after } = query;
  for (;;) {
    const from = { ...query, ...(after === undefined ? {} : { after }), limit: isExact ? limit : PAGE_MAX };
    const rows = await page(connection, from);
    found.push(...rows.filter((row) => isExact || carries(row, query)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < from.limit || found.length >= limit) return found.slice(0, limit);
    after = { startedAt: last.startedAt, callId: last.callId };
  }
}

async function page(connection: StoreConnection, query: SpendQuery): Promise<readonly SpendRow[]> {
  const rows = await connection.read('search spend rows', (db) =>
    filtered(db, query)
      .selectAll()
      .orderBy('started_at')
      .orderBy('call_id')
      .limit(query.limit ?? PAGE_MAX)
      .execute(),
  );
  return rows.map(spendRow);
}

async function joinable(connection: StoreConnection, query: CallPage): Promise<JoinableCall[]> {
  const limit = limitOf(query);
  // One text for each column of a page: a text for each call is half as much work again, and there may be
  // millions of calls. A page that is cut from an ordered query keeps its order in a list of its values.
  const list = sql.raw(connection.dialect === 'sqlite' ? 'json_group_array' : 'json_agg');
  const [lists] = await connection.read('read calls', (db) =>
    db
      .selectFrom(
        filtered(db, query)
          .select(JOINABLE_COLUMNS)
          .orderBy('started_at')
          .orderBy('call_id')
          .limit(limit)
          .as('page'),
      )
      .select(
        JOINABLE_COLUMNS.map((column) =>
          sql<string | null>`cast(${list}(${sql.ref(column)}) as text)`.as(column),
        ),
      )
      .execute(),
  );
  return lists === undefined ? [] : joinableCalls(lists);
}

/** @throws ParleyError invalid_request */
function limitOf({ limit = PAGE_MAX }: CallPage): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_MAX) return limit;
  throw new ParleyError(
    'invalid_request',
    `Cannot search spend rows: the limit "${limit}" is not 1 to ${PAGE_MAX}`,
  );
}

function filtered(db: Kysely<Tables>, query: SpendQuery) {
  const { from, to, tag, metadata, after } = query;
  let found = db.selectFrom('spend');
  // The one bound by which the index is entered: of two, a planner may take the one that goes through every page before.
  const least = Math.max(from ?? -Infinity, after?.startedAt ?? -Infinity);
  if (least !== -Infinity) found = found.where('started_at', '>=', least);
  if (to !== undefined) found = found.where('started_at', '<', to);
  for (const [column, text] of exactTexts(query)) {
    if (text !== undefined) found = found.where(column, '=', columnText(text));
  }
  if (tag !== undefined) found = found.where('tags', 'like', containing(tag));
  for (const [name, text] of Object.entries(metadata ?? {})) {
    found = found.where('metadata', 'like', containing(name));
    found = found.where('metadata', 'like', `%${escaped(JSON.stringify(text).slice(1, -1))}%`);
  }
  if (after === undefined) return found;
  const { startedAt, callId } = after;
  return found.where(beyond(PAGE_KEY, { value: startedAt, id: callId }, { descending: false }));
}

function exactTexts(query: SpendQuery) {
  return [
    ['session_id', query.sessionId],
    ['model_name', query.model],
    ['key_name', query.keyName],
    ['user', query.user],
    ['team', query.team],
  ] as const;
}

/** Matches what holds the text as a JSON string, and perhaps more. */
function containing(text: string): string {
  return `%${escaped(JSON.stringify(text))}%`;
}

/** `_` matches any character, so it stands for what the dialects would escape in different ways. */
function escaped(text: string): string {
  return text.replaceAll(/[%\\]/g, '_');
}

function carries(row: SpendRow, { tag, metadata }: SpendQuery): boolean {
  if (tag !== undefined && row.tags?.includes(tag) !== true) return false;
  const own = row.metadata;
  return Object.entries(metadata ?? {}).every(
    ([name, text]) =>
      own !== null && own !== 'invalid' && Object.hasOwn(own, name) && scalarText(own[name]) === text,
  );
}

/** null for what is no text, number or boolean. */
function scalarText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

async function interruptOpen(connection: StoreConnection, at: number): Promise<number> {
  const result = await connection.write('close the open spend rows', (transaction) =>
    transaction
      .updateTable('spend')
      .set({ state: 'interrupted', ended_at: at })
      .where('state', '=', 'open')
      // Of a proxy that serves beside this one, the call may still go on.
      .where((where) =>
        where.or([
          where('proxy_id', 'is', null),
          where('proxy_id', 'not in', where.selectFrom('proxy_peer').select('id')),
        ]),
      )
      .executeTakeFirst(),
  );
  return safeInteger(result.numUpdatedRows);
}
