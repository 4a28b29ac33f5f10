/** The clock of the database, for what hosts are measured by: those of hosts differ. */
import type { Kysely, RawBuilder } from 'kysely';
import { databaseNow } from '../sql/database-now.ts';
import { isPostgres } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';

export const storeNow = (db: Kysely<Tables>): RawBuilder<number> =>
  databaseNow(isPostgres(db) ? 'postgres' : 'sqlite');
