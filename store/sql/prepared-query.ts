/**
 * Queries whose text is made once: Kysely builds and compiles, and every later execution only fills in values.
 * Owns the markers that stand for the values while the text is made; must not know a table.
 */
import type { CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';

type ColumnValue = string | number | null;
type Values<Row> = { readonly [Name in keyof Row]: ColumnValue };
type Build<Row extends Values<Row>, Result> = (
  db: Kysely<Tables>,
  rows: readonly Row[],
) => CompiledQuery<Result>;

/** Rows of one statement at most; the sizes are powers of two, so that a text exists for few sizes. */
const ROWS_MAX = 128;
export interface PreparedQuery<Row extends Values<Row>, Result> {
  all(db: Kysely<Tables>, values: Row): Promise<readonly Result[]>;
  first(db: Kysely<Tables>, values: Row): Promise<Result | undefined>;
}

export interface PreparedRows<Row extends Values<Row>, Result> {
  /** As few statements as hold the rows, in order; none for no rows. Returns what all of them returned. */
  execute(db: Kysely<Tables>, rows: readonly Row[]): Promise<readonly Result[]>;
}

/**
 * A query over one set of values, all of which it names. `build` runs once per database: in it the values are
 * stand-ins that may only be passed to Kysely, never read.
 */
export function prepareQuery<Row extends Values<Row>, Result>(
  build: (db: Kysely<Tables>, values: Row) => CompiledQuery<Result>,
): PreparedQuery<Row, Result> {
  const texts = new Texts<Row, Result>((db, [values]) => build(db, values as Row));
  const all = async (db: Kysely<Tables>, values: Row): Promise<readonly Result[]> =>
    (await db.executeQuery(texts.filled(db, [values]))).rows;
  return { all, first: async (db, values) => (await all(db, values))[0] };
}

/** A statement over many rows of one shape. `build` runs once per database and number of rows. */
export function prepareRows<Row extends Values<Row>, Result>(
  build: Build<Row, Result>,
): PreparedRows<Row, Result> {
  const texts = new Texts<Row, Result>(build);
  return {
    async execute(db, rows) {
      const results: Result[] = [];
      for (let start = 0; start < rows.length;) {
        const size = chunkSize(rows.length - start);
        const returned = await db.executeQuery(texts.filled(db, rows.slice(start, start + size)));
        for (const row of returned.rows) results.push(row);
        start += size;
      }
      return results;
    },
  };
}

function chunkSize(left: number): number {
  return Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(left)));
}

/** Stands for one value while the text is made. */
class Marker {
  readonly row: number;
  readonly name: string;

  constructor(row: number, name: string) {
    this.row = row;
    this.name = name;
  }
}

class Texts<Row extends Values<Row>, Result> {
  private readonly build: Build<Row, Result>;
  /** By adapter: a database and its transactions share one, so it identifies the database and with it the dialect. */
  private readonly known = new WeakMap<object, Map<number, CompiledQuery<Result>>>();

  constructor(build: Build<Row, Result>) {
    this.build = build;
  }

  filled(db: Kysely<Tables>, rows: readonly Row[]): CompiledQuery<Result> {
    const query = this.text(db, rows);
    // The other parameters are values of the query itself.
    const values = query.parameters.map((part) => (part instanceof Marker ? valueOf(rows, part) : part));
    return { ...query, parameters: values };
  }

  private text(db: Kysely<Tables>, rows: readonly Row[]): CompiledQuery<Result> {
    const { adapter } = db.getExecutor();
    const bySize = this.known.get(adapter) ?? new Map<number, CompiledQuery<Result>>();
    this.known.set(adapter, bySize);
    const known = bySize.get(rows.length) ?? this.build(db, rows.map(markersOf));
    bySize.set(rows.length, known);
    return known;
  }
}

/** Typed as the row it stands for: to Kysely a marker is a value like any other. */
function markersOf<Row extends Values<Row>>(row: Row, index: number): Row {
  const names = Object.keys(row).map((name) => [name, new Marker(index, name)]);
  return Object.fromEntries(names) as Row;
}

function valueOf<Row extends Values<Row>>(rows: readonly Row[], { row, name }: Marker): unknown {
  return rows[row]?.[name as keyof Row];
}
