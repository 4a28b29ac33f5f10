/**
 * Many rows as few statements.
 * Owns the bound on the variables of one statement; must not run a statement.
 */

/**
 * SQLite takes 32,766 variables in one statement and PostgreSQL 65,535.
 * Much less is used: a statement's text grows with its rows, and the gain is spent after a few hundred of them.
 */
const VARIABLES_MAX = 8_000;

/** The rows in chunks that fit one statement, in order; none for no rows. */
export function rowChunks<Row extends object>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const columns = Object.keys(rows[0] ?? {}).length;
  return chunks(rows, Math.max(1, Math.floor(VARIABLES_MAX / Math.max(1, columns))));
}

/** Keys for `where … in`, in chunks that fit one statement. */
export function keyChunks<Key extends string>(keys: readonly Key[]): readonly (readonly Key[])[] {
  return chunks(keys, VARIABLES_MAX);
}

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const found: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += size) found.push(items.slice(start, start + size));
  return found;
}
