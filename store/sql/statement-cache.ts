/**
 * Prepared statements kept by their text.
 * Owns the bound on how many there are; the library frees a statement only when it is collected as garbage.
 */
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** The store has fewer distinct texts than this, statements over many rows included: those come in few sizes. */
const STATEMENTS_MAX = 400;

/** The database with `prepare` answered from the most recently used statements. */
export function statementCache(database: SqliteDatabase): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare(text) {
      const known = statements.get(text);
      const statement = known ?? prepared(database, text);
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

/** Whether it reads is asked at every execution, and is known here. */
function prepared(database: SqliteDatabase, text: string): SqliteStatement {
  const statement = database.prepare(text);
  const { reader } = statement;
  return {
    reader,
    all: (values) => statement.all(values),
    run: (values) => statement.run(values),
    iterate: (values) => statement.iterate(values),
  };
}

function oldestKey(statements: ReadonlyMap<string, unknown>): string {
  return statements.keys().next().value ?? '';
}
