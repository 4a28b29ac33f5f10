/**
 * Spend rows of the proxy (D26).
 * Owns that a call has one row and that a closed one never opens again; must not price or match.
 */
import type { ExpressionBuilder } from 'kysely';
import { ParleyError } from '../core/parley-error.ts';
import type { SpendRow, SpendRowState } from '../core/spend.ts';
import type { SpendLog, SpendQuery } from '../ports/spend-log.ts';
import { columnText, safeInteger } from './column-value.ts';
import type { StoreConnection } from './connection.ts';
import { prepareRows } from './prepared-query.ts';
import { spendColumns, spendRow } from './spend-columns.ts';
import type { Tables } from './tables.ts';

/** Rows of one page at most: a page is held in memory whole. */
const PAGE_MAX = 1_000;

export function spendLog(connection: StoreConnection): SpendLog {
  return {
    write: (rows) => write(connection, rows),
    search: (query) => search(connection, query),
    interruptOpen: (at) => interruptOpen(connection, at),
  };
}

async function write(connection: StoreConnection, rows: readonly SpendRow[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = latestByCall(rows).map(spendColumns);
  await connection.write('write spend rows', (transaction) => PUT.execute(transaction, columns));
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

/** @throws ParleyError invalid_request when the limit is not 1..1000 */
async function search(connection: StoreConnection, query: SpendQuery): Promise<readonly SpendRow[]> {
  const { from, to, sessionId, model, after, limit = PAGE_MAX } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    throw new ParleyError(
      'invalid_request',
      `Cannot search spend rows: the limit "${limit}" is not 1 to ${PAGE_MAX}`,
    );
  }
  const rows = await connection.read('search spend rows', (db) => {
    let found = db.selectFrom('spend').selectAll();
    if (from !== undefined) found = found.where('started_at', '>=', from);
    if (to !== undefined) found = found.where('started_at', '<', to);
    if (sessionId !== undefined) found = found.where('session_id', '=', columnText(sessionId));
    if (model !== undefined) found = found.where('model_name', '=', columnText(model));
    if (after !== undefined) {
      found = found.where((where) =>
        where.or([
          where('started_at', '>', after.startedAt),
          where.and([where('started_at', '=', after.startedAt), where('call_id', '>', after.callId)]),
        ]),
      );
    }
    return found.orderBy('started_at').orderBy('call_id').limit(limit).execute();
  });
  return rows.map(spendRow);
}

async function interruptOpen(connection: StoreConnection, at: number): Promise<number> {
  const result = await connection.write('close the open spend rows', (transaction) =>
    transaction
      .updateTable('spend')
      .set({ state: 'interrupted', ended_at: at })
      .where('state', '=', 'open')
      .executeTakeFirst(),
  );
  return safeInteger(result.numUpdatedRows);
}
