/** Where the seal key comes from, and who may read it. */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { deriveKey, loadSealKey, sealKey } from '../../store/access/seal-key.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const BYTES = new Uint8Array(32).map((_, index) => index);
const ENV = Buffer.from(BYTES).toString('base64');

describe('loadSealKey()', () => {
  it('takes the variable first, and touches no file then', () => {
    const folder = tempDir();
    const key = loadSealKey({ env: ENV, path: path.join(folder, 'seal.key') });
    expect(key.id).toBe(sealKey(BYTES).id);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('makes a file that only its owner reads, once', () => {
    const folder = path.join(tempDir(), 'data');
    const file = path.join(folder, 'seal.key');
    const first = loadSealKey({ env: undefined, path: file });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(loadSealKey({ env: '', path: file }).id).toBe(first.id);
    expect(readdirSync(folder)).toEqual(['seal.key']);
    const other = loadSealKey({ env: undefined, path: path.join(folder, 'other.key') });
    expect(other.id).not.toBe(first.id);
  });

  it.each([0o640, 0o604, 0o644])('refuses a file of mode %o and says what to do', (mode) => {
    const file = path.join(tempDir(), 'seal.key');
    loadSealKey({ env: undefined, path: file });
    chmodSync(file, mode);
    expect(() => loadSealKey({ env: undefined, path: file })).toThrow('run chmod 600 on it');
  });

  it.each(['short', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), `${ENV}!`])(
    'refuses what is not base64 of 32 bytes: %s',
    (text) => {
      const file = path.join(tempDir(), 'seal.key');
      writeFileSync(file, text, { mode: 0o600 });
      for (const load of [
        () => loadSealKey({ env: text, path: file }),
        () => loadSealKey({ env: undefined, path: file }),
      ]) {
        expect(load).toThrow(expect.objectContaining({ code: 'config_invalid' }));
        expect(load).not.toThrow(text);
      }
    },
  );
});

describe('sealKey()', () => {
  it('names and derives keys without showing any', () => {
    const key = sealKey(BYTES);
    expect(key.id).toMatch(/^[0-9a-f]{16}$/);
    const derived = [deriveKey(key, 'sessions'), deriveKey(key, 'proxy')];
    expect(derived[0]).toHaveLength(32);
    expect(derived[0]).not.toEqual(derived[1]);
    expect(deriveKey(sealKey(BYTES), 'proxy')).toEqual(derived[1]);
    const shown = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key);
    expect(shown).not.toContain(ENV);
    expect(shown).not.toContain(Buffer.from(BYTES).toString('hex'));
    expect(readFileSync(import.meta.filename, 'utf8')).not.toContain(ENV);
  });
});
