/**
 * An installation as a whole: slots and who waits for one, what is in sandboxes, what went wrong lately.
 * Owns the queries; each is bounded, and answered from an index. Sums of spend are in spend-by-time.ts.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { sandboxId, userId as asUserId, type RunId, type SandboxId, type UserId } from '../../core/ids.ts';
import { LINE_AGE_MAX_MS } from '../../core/limits.ts';
import type { ConversationRow, RunRow, SandboxRow } from '../../core/machine/projection.ts';
import { LAST_STEP_FAILED } from '../../core/run/closing.ts';
import type {
  FailedLastStep,
  FailuresWanted,
  InsideOfSandbox,
  LinePlace,
  Overview,
  TakenCapacity,
} from '../../ports/overview.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { fitting } from '../sql/keyset.ts';
import { spendByTime } from '../spend/spend-by-time.ts';
import type { Tables } from '../schema/tables.ts';

const HOLDERS_MAX = 100;

export function overview(connection: StoreConnection): Overview {
  const read = <T>(action: string, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> =>
    connection.read(action, work);
  return {
    capacity: (wanted) => read('count the slots', (db) => capacity(db, wanted)),
    line: (page) => read('read the line for a slot', (db) => line(db, page)),
    spend: (question) => read('sum spend over time', (db) => spendByTime(db, connection.dialect, question)),
    insideOf: (userId, ids, newestMax) =>
      read('read what is in sandboxes', (db) => insideOf(db, { userId, ids, newestMax })),
    failedStarts: (wanted) =>
      read('read failed starts', async (db) =>
        bodiesOf<ConversationRow>(await failures(db, { ...wanted, table: 'conversation', at: 'updated_at' })),
      ),
    failedSandboxes: (wanted) =>
      read('read failed sandboxes', async (db) =>
        bodiesOf<SandboxRow>(await failures(db, { ...wanted, table: 'sandbox', at: 'created_at' })),
      ),
    failedLastSteps: (wanted) => read('read failed last steps', (db) => failedLastSteps(db, wanted)),
  };
}

type Count = number | bigint | string;

async function capacity(
  db: Kysely<Tables>,
  { userId, now }: Parameters<Overview['capacity']>[0],
): Promise<TakenCapacity> {
  const { rows: sums } = await sql<{ readonly taken: Count; readonly waiting: Count }>`select
    (select count(*) from slot) as taken,
    (select count(*) from slot_line where asked_at > ${now - LINE_AGE_MAX_MS}) as waiting`.execute(db);
  const whose = userId === null ? sql`` : sql`where user_id = ${userId}`;
  const { rows } = await sql<{ readonly user_id: string; readonly taken: Count }>`
    select user_id, count(*) as taken from slot ${whose} group by user_id
    order by count(*) desc, user_id limit ${HOLDERS_MAX}`.execute(db);
  return {
    taken: safeInteger(sums[0]?.taken ?? 0),
    waiting: safeInteger(sums[0]?.waiting ?? 0),
    holders: rows.map((row) => ({ userId: asUserId(row.user_id), taken: safeInteger(row.taken) })),
  };
}

interface LineRow {
  readonly position: Count;
  readonly waiter_id: string;
  readonly machine: LinePlace['machine'];
  readonly user_id: string;
  readonly asked_at: Count;
  readonly title: string | null;
  readonly run_id: string | null;
  readonly taken: Count;
}

async function line(
  db: Kysely<Tables>,
  { userId, now, after, limit }: Parameters<Overview['line']>[0],
): Promise<readonly LinePlace[]> {
  const behind = fitting(after, 'number');
  const conditions = [
    sql`l.position > ${behind?.value ?? 0}`,
    sql`l.asked_at > ${now - LINE_AGE_MAX_MS}`,
    ...(userId === null ? [] : [sql`l.user_id = ${userId}`]),
  ];
  const { rows } = await sql<LineRow>`
    select l.position, l.waiter_id, l.machine, l.user_id, l.asked_at, c.title, c.run_id,
      (select count(*) from slot s where s.user_id = l.user_id) as taken
    from slot_line l left join conversation c on c.conversation_id = l.waiter_id
    where ${sql.join(conditions, sql` and `)} order by l.position limit ${limit}`.execute(db);
  return rows.map((row) => ({
    order: safeInteger(row.position),
    waiterId: row.waiter_id,
    machine: row.machine,
    userId: asUserId(row.user_id),
    askedAt: safeInteger(row.asked_at),
    title: row.title === '' ? null : row.title,
    runId: row.run_id as RunId | null,
    takenByUser: safeInteger(row.taken),
  }));
}

interface InsideRow {
  readonly sandbox_id: string;
  readonly total: Count;
  readonly body: string;
}

async function insideOf(
  db: Kysely<Tables>,
  wanted: { readonly userId: UserId; readonly ids: readonly SandboxId[]; readonly newestMax: number },
): Promise<ReadonlyMap<SandboxId, InsideOfSandbox>> {
  const { userId, ids, newestMax } = wanted;
  const found = new Map<SandboxId, InsideOfSandbox>();
  if (ids.length === 0) return found;
  const { rows } = await sql<InsideRow>`select sandbox_id, total, body from (
      select sandbox_id, body, count(*) over (partition by sandbox_id) as total,
        row_number() over (partition by sandbox_id order by updated_at desc, conversation_id) as place
      from conversation where sandbox_id in (${sql.join(ids.map((id) => sql`${id}`))}) and user_id = ${userId}
    ) inside where place <= ${newestMax} order by sandbox_id, place`.execute(db);
  for (const { sandbox_id: text, total, body } of rows) {
    const row = JSON.parse(body) as ConversationRow;
    const before = found.get(sandboxId(text))?.newest ?? [];
    const newest = [...before, { conversationId: row.conversationId, row }];
    found.set(sandboxId(text), { total: safeInteger(total), newest });
  }
  return found;
}

interface Failed extends FailuresWanted {
  readonly table: 'conversation' | 'sandbox';
  readonly at: 'updated_at' | 'created_at';
}

interface Body {
  readonly body: string;
}

/** The index holds none but these: it is asked in its own words. */
async function failures(
  db: Kysely<Tables>,
  { userId, since, limit, table, at }: Failed,
): Promise<readonly Body[]> {
  const conditions: RawBuilder<unknown>[] = [sql`failed = 1`, sql`${sql.ref(at)} >= ${since}`];
  if (userId !== null) conditions.push(sql`user_id = ${userId}`);
  const { rows } = await sql<Body>`select body from ${sql.table(table)}
    where ${sql.join(conditions, sql` and `)} order by ${sql.ref(at)} desc limit ${limit}`.execute(db);
  return rows;
}

function bodiesOf<Row>(rows: readonly Body[]): readonly Row[] {
  return rows.map(({ body }) => JSON.parse(body) as Row);
}

async function failedLastSteps(
  db: Kysely<Tables>,
  { userId, since, limit }: FailuresWanted,
): Promise<readonly FailedLastStep[]> {
  const whose = userId === null ? sql`` : sql`and r.user_id = ${userId}`;
  const { rows } = await sql<{ readonly body: string; readonly detail: string; readonly at: Count }>`
    select r.body, e.detail, e.at from lifecycle_event e join run r on r.run_id = e.id
    where e.code = ${sql.lit(LAST_STEP_FAILED)} and e.at >= ${since} ${whose}
    order by e.at desc limit ${limit}`.execute(db);
  return rows.map(({ body, detail, at }) => {
    const { runId, name } = JSON.parse(body) as RunRow;
    return { runId, name, detail, at: safeInteger(at) };
  });
}
