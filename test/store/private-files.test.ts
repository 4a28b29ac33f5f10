/** Only its owner reads a data directory, also one that was open to others before. */
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOCK_FILE, lockDataDirectory } from '../../store/engine/data-directory-lock.ts';
import { openStore } from '../../store/open-store.ts';
import { ensurePrivateDatabase } from '../../store/private-files.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8);

describe('a data directory', () => {
  it('and its databases are their owner’s alone', async () => {
    const directory = path.join(tempDir(), 'data');
    const lock = lockDataDirectory(directory, { startedAt: 0 });
    const file = path.join(directory, 'parley.db');
    const store = await openStore({ kind: 'sqlite', path: file });
    const files = ['', '-wal', '-shm'].map((suffix) => `${file}${suffix}`);
    expect([directory, ...files, path.join(directory, LOCK_FILE)].map(modeOf)).toEqual([
      ...['700', '600', '600', '600', '600'],
    ]);
    await store.close();
    lock.release();
  });

  it('is closed again when it was open to others', async () => {
    const directory = path.join(tempDir(), 'data');
    mkdirSync(directory);
    chmodSync(directory, 0o755);
    const file = path.join(directory, 'parley.db');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    const lock = lockDataDirectory(directory, { startedAt: 0 });
    const store = await openStore({ kind: 'sqlite', path: file });
    expect([directory, file].map(modeOf)).toEqual(['700', '600']);
    await store.close();
    lock.release();
  });

  it('keeps what is in a database', () => {
    const file = path.join(tempDir(), 'kept.db');
    writeFileSync(file, 'kept');
    ensurePrivateDatabase(file);
    expect(statSync(file).size).toBe(4);
  });
});
