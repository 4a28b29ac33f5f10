/**
 * What a database belongs to: its seal key, and its data directory where all sandboxes live on one host.
 * Owns the refusal of any other, with which secrets could not be opened and archives would be missing.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { fail, type StoreConnection } from '../sql/connection.ts';

/** Names a data directory; it moves with the directory. */
const ID_FILE = 'installation.id';

export interface Installation {
  /**
   * Remembers what the database is used with the first time, and compares later.
   * `dataDir` null says that sandboxes and archives are not files of one host.
   * @throws ParleyError engine_misconfigured
   */
  claim(used: { readonly sealKeyId: string; readonly dataDir: string | null }): Promise<void>;
  /** Uses the database with this data directory from now on: the caller has checked that the former one is empty. */
  move(dataDir: string): Promise<void>;
}

export function installation(connection: StoreConnection): Installation {
  return {
    move: (dataDir) =>
      connection.write('take the database to another data directory', async (transaction) => {
        const value = directoryId(dataDir);
        await transaction
          .updateTable('installation')
          .set({ value })
          .where('name', '=', 'data_directory')
          .execute();
      }),
    async claim({ sealKeyId, dataDir }) {
      const sealed = await remembered(connection, 'seal_key', sealKeyId);
      if (sealed !== sealKeyId) throw otherKey();
      if (dataDir === null) return;
      const id = directoryId(dataDir);
      if ((await remembered(connection, 'data_directory', id)) !== id) throw otherDirectory(dataDir);
    },
  };
}

/** The value that was stored first. */
function remembered(connection: StoreConnection, name: string, value: string): Promise<string> {
  return connection.write('compare what the database is used with', async (transaction) => {
    await transaction
      .insertInto('installation')
      .values({ name, value })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await transaction
      .selectFrom('installation')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return row.value;
  });
}

/** Names a data directory, as long as it exists: made by the first caller; two at once get the same. */
export function directoryId(dataDir: string): string {
  const file = path.join(dataDir, ID_FILE);
  const known = readId(file);
  if (known !== null) return known;
  const own = `${file}.${process.pid}`;
  try {
    writeFileSync(own, randomUUID(), { mode: 0o600 });
    linkSync(own, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
      return fail(`name the data directory "${dataDir}"`, error);
  } finally {
    rmSync(own, { force: true });
  }
  return readId(file) ?? '';
}

function readId(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

function otherKey(): ParleyError {
  return new ParleyError(
    'engine_misconfigured',
    'Cannot use the database: its secrets are sealed with another key',
    {
      remedy: 'set PARLEY_SEAL_KEY to the same key in every process of the deployment',
    },
  );
}

function otherDirectory(dataDir: string): ParleyError {
  const message = `Cannot use the database with the data directory "${dataDir}": its sandboxes and archives are in another one`;
  return new ParleyError('engine_misconfigured', message, {
    remedy: 'name the data directory that the database was begun with in store.path',
    details: { data_directory: dataDir },
  });
}
