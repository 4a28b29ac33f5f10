/**
 * Creates tables that are given as data, in either dialect.
 * Owns what a kind of column is in each; must not know a table by name.
 */
import { sql, type CreateTableBuilder, type Expression, type Kysely } from 'kysely';

/** `?` may be null; `=0` is 0 where it is not named; `position` grows with every insert and is the primary key. */
export type ColumnKind =
  'text' | 'text?' | 'bigint' | 'bigint?' | 'bigint=0' | 'flag' | 'flag=0' | 'position';

interface TableDefinition {
  readonly columns: Readonly<Record<string, ColumnKind>>;
  readonly primaryKey?: readonly string[];
  readonly unique?: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
}

/** Each table by name. */
export type TableDefinitions = Readonly<Record<string, TableDefinition>>;

export async function createTables(
  db: Kysely<unknown>,
  tables: TableDefinitions,
  isPostgres: boolean,
): Promise<void> {
  for (const [name, definition] of Object.entries(tables))
    await createTable(db, { name, definition, isPostgres });
}

async function createTable(
  db: Kysely<unknown>,
  table: { readonly name: string; readonly definition: TableDefinition; readonly isPostgres: boolean },
): Promise<void> {
  const { name, definition, isPostgres } = table;
  let create: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, kind] of Object.entries(definition.columns)) {
    create = create.addColumn(column, columnType(kind, isPostgres), (builder) => {
      if (kind === 'position') return builder.primaryKey();
      if (kind.endsWith('=0')) return builder.notNull().defaultTo(0);
      return kind.endsWith('?') ? builder : builder.notNull();
    });
  }
  if (definition.primaryKey)
    create = create.addPrimaryKeyConstraint(`${name}_key`, [...definition.primaryKey]);
  if (definition.unique) create = create.addUniqueConstraint(`${name}_unique`, [...definition.unique]);
  await create.execute();
  for (const columns of definition.indexes ?? []) {
    await db.schema
      .createIndex(`${name}_by_${columns.join('_')}`)
      .on(name)
      .columns([...columns])
      .execute();
  }
}

function columnType(kind: ColumnKind, isPostgres: boolean): Expression<unknown> {
  switch (kind) {
    case 'text':
    case 'text?':
      // Compared byte by byte in both dialects, so that pages have the same order everywhere.
      return isPostgres ? sql`text collate "C"` : sql`text`;
    case 'bigint':
    case 'bigint?':
    case 'bigint=0':
      return sql`bigint`;
    case 'flag':
    case 'flag=0':
      return sql`integer`;
    case 'position':
      return isPostgres ? sql`bigserial` : sql`integer`;
  }
}
