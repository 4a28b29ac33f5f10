/**
 * Prepared statements kept by their text.
 * Owns the bound on how many there are; the library frees a statement only when it is collected as garbage.
 */
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** The store has fewer distinct texts than this, apart from statements over many rows, whose number varies. */
const STATEMENTS_MAX = 200;

/** The database with `prepare` answered from the most recently used statements. */
export function statementCache(database: SqliteDatabase): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(text) {
      const known = statements.get(text);
      const statement = known ?? database.prepare(text);
      statements.delete(text);
      statements.set(text, statement);
      if (statements.size > STATEMENTS_MAX) statements.delete(oldestKey(statements));
      return statement;
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

function oldestKey(statements: ReadonlyMap<string, unknown>): string {
  return statements.keys().next().value ?? '';
}
