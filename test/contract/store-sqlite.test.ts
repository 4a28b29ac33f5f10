/** The store on SQLite: in a file, as installations have it, and in memory. */
import path from 'node:path';
import { describe, onTestFinished } from 'vitest';
import { openStore, type Store } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { storeSuite } from './store-suite.ts';

async function openAt(file: string): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path: file });
  onTestFinished(() => store.close());
  return store;
}

describe('SQLite in a file', () => {
  storeSuite(() => openAt(path.join(tempDir(), 'parley.db')));
});

describe('SQLite in memory', () => {
  storeSuite(() => openAt(':memory:'));
});
