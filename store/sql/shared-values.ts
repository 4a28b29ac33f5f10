/**
 * Values that all rows of a statement have in common, bound once: to SQLite's library each bound value costs more than
 * writing it into a row.
 * Owns how the text says so. PostgreSQL's stays as it is, because a parameter there has one type wherever it stands.
 */

type Row = Readonly<Record<string, unknown>>;

/** Names of the columns that have the same value in every row, in the order of the row. */
export function sharedNames(rows: readonly Row[]): readonly string[] {
  const [first, ...others] = rows;
  if (first === undefined) return [];
  return Object.keys(first).filter((name) => others.every((row) => row[name] === first[name]));
}

interface Text {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Whether each of its places is a plain question mark, as SQLite has them, and nothing else in it looks like one. */
export function canBindOnce({ sql, parameters }: Text): boolean {
  return parameters.length > 0 && sql.split('?').length === parameters.length + 1;
}

/**
 * A text that `canBindOnce`, with numbered places: parameters with the same key share the place of the first, and those
 * with none keep their own.
 */
export function bindOnce({ sql, parameters }: Text, keyOf: (parameter: unknown) => string | null): Text {
  const bound: unknown[] = [];
  const numbers = new Map<string, number>();
  const places = parameters.map((parameter) => {
    const key = keyOf(parameter);
    const known = key === null ? undefined : numbers.get(key);
    if (known !== undefined) return known;
    bound.push(parameter);
    if (key !== null) numbers.set(key, bound.length);
    return bound.length;
  });
  const pieces = sql.split('?').map((piece, i) => (i === 0 ? piece : `?${places[i - 1]}${piece}`));
  return { sql: pieces.join(''), parameters: bound };
}
