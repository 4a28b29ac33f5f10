/** What the file holds of a secret, and what happens to a value that was moved or changed in it. */
import Database from 'libsql';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../store/open-store.ts';
import { sealKey } from '../../store/access/seal-key.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const KEY = sealKey(new Uint8Array(32).fill(7));
const VALUE = 'a-value-that-nobody-may-see';

async function vaultIn(folder: string) {
  const store = await openStore({ kind: 'sqlite', path: path.join(folder, 'parley.db') });
  const vault = store.vault(KEY);
  await vault.put('c/1', 'TOKEN', VALUE);
  return { store, vault };
}

describe('secretVault()', () => {
  it('leaves no value in clear in any file', async () => {
    const folder = tempDir();
    const { store } = await vaultIn(folder);
    const bytes = () => readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'latin1'));
    expect(bytes().join('')).toContain('TOKEN');
    const forms = [VALUE, Buffer.from(VALUE).toString('base64'), Buffer.from(VALUE).toString('hex')];
    for (const form of forms) expect(bytes().join('')).not.toContain(form);
    await store.close();
    for (const form of forms) expect(bytes().join('')).not.toContain(form);
  });

  it('seals the same value differently each time', async () => {
    const folder = tempDir();
    const { store, vault } = await vaultIn(folder);
    const sealed = () =>
      new Database(path.join(folder, 'parley.db')).prepare('select sealed from secret').get();
    const before = sealed();
    await vault.put('c/1', 'TOKEN', VALUE);
    expect(sealed()).not.toEqual(before);
    await store.close();
  });

  it.each([
    [`update secret set scope = 'c/2'`, 'c/2', 'TOKEN'],
    [`update secret set name = 'OTHER'`, 'c/1', 'OTHER'],
    [`update secret set sealed = 'AAAA' || substr(sealed, 5)`, 'c/1', 'TOKEN'],
    [`update secret set sealed = substr(sealed, 1, 12)`, 'c/1', 'TOKEN'],
    [`update secret set key_id = 'other'`, 'c/1', 'TOKEN'],
  ])('does not open after: %s', async (change, scope, name) => {
    const folder = tempDir();
    const { store, vault } = await vaultIn(folder);
    new Database(path.join(folder, 'parley.db')).exec(change);
    const error: unknown = await vault.get(scope, name).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'seal_broken' });
    expect(String(error)).not.toContain(VALUE);
    await store.close();
  });
});
