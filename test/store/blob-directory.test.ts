/** Blobs are whole or not there, and stay below their directory. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBlobDirectory } from '../../store/blobs/blob-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

async function textOf(content: AsyncIterable<Uint8Array> | null): Promise<string | null> {
  if (content === null) return null;
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('createBlobDirectory()', () => {
  it('stores, replaces and removes', async () => {
    const blobs = createBlobDirectory(path.join(tempDir(), 'blobs'));
    expect(await blobs.get('a/b.tar')).toBeNull();
    expect(await blobs.put('a/b.tar', chunksOf('one ', 'two'))).toEqual({
      bytes: 7,
      sha256: sha256('one two'),
    });
    expect(await textOf(await blobs.get('a/b.tar'))).toBe('one two');
    expect(await blobs.put('a/b.tar', Buffer.from('three'))).toEqual({ bytes: 5, sha256: sha256('three') });
    expect(await textOf(await blobs.get('a/b.tar'))).toBe('three');
    expect(await blobs.put('empty', new Uint8Array())).toEqual({ bytes: 0, sha256: sha256('') });
    expect(await textOf(await blobs.get('empty'))).toBe('');
    await blobs.remove('a/b.tar');
    await blobs.remove('a/b.tar');
    expect(await blobs.get('a/b.tar')).toBeNull();
  });

  it('knows folders from blobs', async () => {
    const blobs = createBlobDirectory(tempDir());
    await blobs.put('a/b', Buffer.from('x'));
    expect(await blobs.get('a')).toBeNull();
    await blobs.remove('a');
    expect(await blobs.get('a/b/c')).toBeNull();
    expect(await textOf(await blobs.get('a/b'))).toBe('x');
  });

  it('keeps the old blob when the new content fails', async () => {
    const root = tempDir();
    const blobs = createBlobDirectory(root);
    await blobs.put('a', Buffer.from('old'));
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield* chunksOf('half of it');
      throw new Error('the source is gone');
    }
    await expect(blobs.put('a', failing())).rejects.toThrow('the source is gone');
    expect(await textOf(await blobs.get('a'))).toBe('old');
    expect(readdirSync(path.join(root, '.unfinished'))).toEqual([]);
  });

  it('removes what a killed process left', async () => {
    const root = tempDir();
    const blobs = createBlobDirectory(root);
    expect(await blobs.removeUnfinished()).toBe(0);
    mkdirSync(path.join(root, '.unfinished'));
    writeFileSync(path.join(root, '.unfinished', 'half'), 'x');
    expect(await blobs.removeUnfinished()).toBe(1);
    expect(readdirSync(path.join(root, '.unfinished'))).toEqual([]);
  });

  it('lets many write one key at once: one of them whole', async () => {
    const blobs = createBlobDirectory(tempDir());
    const texts = Array.from({ length: 10 }, (_, index) => String(index).repeat(10_000));
    await Promise.all(texts.map((text) => blobs.put('a', chunksOf(text.slice(0, 5_000), text.slice(5_000)))));
    expect(texts).toContain(await textOf(await blobs.get('a')));
  });

  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    'a/..',
    './a',
    'a\\b',
    'a b',
    'ä',
    'a\u0000',
    '.unfinished/x',
    'x'.repeat(256),
  ])('refuses the key "%s"', async (key) => {
    const blobs = createBlobDirectory(tempDir());
    await expect((async () => blobs.put(key, Buffer.from('x')))()).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(blobs.get(key)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(blobs.remove(key)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('never writes outside its root', async () => {
    const parent = tempDir();
    const blobs = createBlobDirectory(path.join(parent, 'root'));
    const parts = fc.array(fc.constantFrom('..', '.', 'a', '/', '\\', '...', '.a', '%2e'), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(parts, async (segments) => {
        await (async () => blobs.put(segments.join('/'), Buffer.from('x')))().catch(() => undefined);
        expect(readdirSync(parent).filter((name) => name !== 'root')).toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(existsSync(path.join(parent, 'root'))).toBe(true);
  });
});
