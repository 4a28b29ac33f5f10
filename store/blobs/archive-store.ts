/**
 * Which archives of a workspace are durable (D12).
 * Owns one record per sandbox and generation; the bytes are in the blob store.
 */
import type { Selectable } from 'kysely';
import { sandboxId } from '../../core/ids.ts';
import type { ArchiveRecord, ArchiveStore } from '../../ports/record-store.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { Tables } from '../schema/tables.ts';
import type { StoreConnection } from '../sql/connection.ts';

export function archiveStore(connection: StoreConnection): ArchiveStore {
  return {
    /** A repeat for the same generation replaces its record: the activity was carried out again. */
    async putArchive(record) {
      const { blobKey, sha256, bytes, at } = record;
      const value = { blob_key: blobKey, sha256, bytes, at };
      await connection.write(`record an archive of the sandbox "${record.sandboxId}"`, (transaction) =>
        transaction
          .insertInto('archive')
          .values({ sandbox_id: record.sandboxId, generation: record.generation, ...value })
          .onConflict((conflict) => conflict.columns(['sandbox_id', 'generation']).doUpdateSet(value))
          .execute(),
      );
    },
    /** Oldest generation first. */
    async archives(sandboxId) {
      const rows = await connection.read(`list the archives of the sandbox "${sandboxId}"`, (db) =>
        db
          .selectFrom('archive')
          .selectAll()
          .where('sandbox_id', '=', sandboxId)
          .orderBy('generation')
          .execute(),
      );
      return rows.map(recordOf);
    },
    async allArchives() {
      const rows = await connection.read('list the archives', (db) =>
        db.selectFrom('archive').selectAll().orderBy('sandbox_id').orderBy('generation').execute(),
      );
      return rows.map((row) => ({ sandboxId: sandboxId(row.sandbox_id), ...recordOf(row) }));
    },
  };
}

function recordOf(row: Selectable<Tables['archive']>): Omit<ArchiveRecord, 'sandboxId'> {
  return {
    generation: safeInteger(row.generation),
    blobKey: row.blob_key,
    sha256: row.sha256,
    bytes: safeInteger(row.bytes),
    at: safeInteger(row.at),
  };
}
