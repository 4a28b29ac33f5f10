/**
 * The schema as it grew, one entry per version, for both dialects.
 * A released entry never changes: a database remembers the names it has, in order.
 */
import { PostgresAdapter, type Kysely, type Migration } from 'kysely';
import { createJournal } from './schema-journal.ts';
import { createProxyTables } from './schema-proxy.ts';
import { addApplication } from './schema-application.ts';
import { createInstallation } from './schema-installation.ts';
import { addEntityParts } from './schema-entity-parts.ts';
import { addPools } from './schema-pools.ts';
import { indexRunPages } from './schema-run-pages.ts';
import { createSlotLine } from './schema-slot-line.ts';
import { createSchema } from './schema.ts';
import { addHeldSpend } from './schema-spend-held.ts';
import { addRunUsers } from './schema-run-users.ts';
import { indexTagPages } from './schema-tag-pages.ts';
import { addTranscriptBytes } from './schema-transcript-bytes.ts';
import { createIdempotencyKeys } from './schema-idempotency.ts';
import { createTrouble } from './schema-trouble.ts';
import { createWarmPool } from './schema-warm-pool.ts';

/** Names sort by age; the last is the version of this program. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': { up: (db: Kysely<unknown>) => createSchema(db, isPostgres(db)) },
  '0002-journal': { up: (db: Kysely<unknown>) => createJournal(db, isPostgres(db)) },
  '0003-proxy': { up: (db: Kysely<unknown>) => createProxyTables(db, isPostgres(db)) },
  '0004-application': { up: (db: Kysely<unknown>) => addApplication(db, isPostgres(db)) },
  '0005-entity-parts': { up: (db: Kysely<unknown>) => addEntityParts(db, isPostgres(db)) },
  '0006-installation': { up: (db: Kysely<unknown>) => createInstallation(db, isPostgres(db)) },
  '0007-run-pages': { up: indexRunPages },
  '0008-pools': { up: (db: Kysely<unknown>) => addPools(db, isPostgres(db)) },
  '0009-warm-pool': { up: (db: Kysely<unknown>) => createWarmPool(db, isPostgres(db)) },
  '0010-tag-pages': { up: indexTagPages },
  '0011-trouble': { up: (db: Kysely<unknown>) => createTrouble(db, isPostgres(db)) },
  '0012-spend-held': { up: addHeldSpend },
  '0013-slot-line': { up: (db: Kysely<unknown>) => createSlotLine(db, isPostgres(db)) },
  '0014-run-users': { up: addRunUsers },
  '0015-transcript-bytes': { up: addTranscriptBytes },
  '0016-idempotency': { up: (db: Kysely<unknown>) => createIdempotencyKeys(db, isPostgres(db)) },
};

export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
