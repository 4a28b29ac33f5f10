/**
 * Renames what older versions stored as JSON to the names of today: states, events that wait, journals, starts.
 * Owns which columns hold such values; the names are those of core/machine/former-names.ts.
 */
import { sql, type Kysely } from 'kysely';
import {
  FORMER_EVENT_TYPES,
  eventInPresentNames,
  inputInPresentNames,
  stateInPresentNames,
} from '../../core/machine/former-names.ts';

interface JsonColumn {
  readonly table: string;
  readonly key: readonly string[];
  readonly column: string;
  /** The names that are no more, as JSON quotes them: a row without any of them is not read. */
  readonly former: readonly string[];
  readonly renamed: (value: unknown) => unknown;
}

const COLUMNS: readonly JsonColumn[] = [
  {
    table: 'entity',
    key: ['machine', 'id'],
    column: 'state',
    former: ['"birth":', '"standing":'],
    renamed: stateInPresentNames,
  },
  {
    table: 'inbox',
    key: ['position'],
    column: 'event',
    former: ['"birth":', ...FORMER_EVENT_TYPES.map((type) => `"${type}"`)],
    renamed: eventInPresentNames,
  },
  {
    table: 'journal',
    key: ['machine', 'id', 'number'],
    column: 'inputs',
    former: ['"birth":', '"letter"', ...FORMER_EVENT_TYPES.map((type) => `"${type}"`)],
    renamed: (inputs) => (inputs as readonly unknown[]).map(inputInPresentNames),
  },
  {
    table: 'start_task',
    key: ['task_id'],
    column: 'body',
    former: ['"birth":'],
    // A start says what its conversation begins with under the same name as the conversation itself.
    renamed: stateInPresentNames,
  },
];

/** So many rows are in memory at once. */
const PAGE = 200;

type Row = Readonly<Record<string, unknown>>;

export async function usePresentNames(db: Kysely<unknown>): Promise<void> {
  for (const one of COLUMNS) {
    let rows = await page(db, one, null);
    for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
      for (const row of rows) await rewrite(db, one, row);
      rows = await page(db, one, last);
    }
  }
}

async function page(
  db: Kysely<unknown>,
  { table, key, column, former }: JsonColumn,
  after: Row | null,
): Promise<readonly Row[]> {
  const keys = sql.join(key.map((name) => sql.ref(name)));
  const found = former.map((text) => sql`${sql.ref(column)} like ${`%${text}%`}`);
  const behind =
    after === null ? sql`` : sql` and (${keys}) > (${sql.join(key.map((name) => sql`${after[name]}`))})`;
  const { rows } = await sql<Row>`select ${keys}, ${sql.ref(column)} as value from ${sql.table(table)}
    where (${sql.join(found, sql` or `)})${behind} order by ${keys} limit ${sql.lit(PAGE)}`.execute(db);
  return rows;
}

async function rewrite(
  db: Kysely<unknown>,
  { table, key, column, renamed }: JsonColumn,
  row: Row,
): Promise<void> {
  const text = JSON.stringify(renamed(JSON.parse(String(row['value']))));
  if (text === row['value']) return;
  const same = key.map((name) => sql`${sql.ref(name)} = ${row[name]}`);
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${text}
    where ${sql.join(same, sql` and `)}`.execute(db);
}
