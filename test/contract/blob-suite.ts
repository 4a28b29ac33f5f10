/** What every BlobStore does: whole or not there, and no key that leads elsewhere. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BlobStore } from '../../ports/blob-store.ts';

export async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

export async function textOf(content: AsyncIterable<Uint8Array> | null): Promise<string | null> {
  if (content === null) return null;
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** `open` gives an empty one each time. */
export function blobSuite(open: () => Promise<BlobStore>): void {
  describe('BlobStore', () => {
    it('stores, replaces and removes', async () => {
      const blobs = await open();
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
      expect(await blobs.put('none', chunksOf())).toEqual({ bytes: 0, sha256: sha256('') });
      expect(await textOf(await blobs.get('none'))).toBe('');
      await blobs.remove('a/b.tar');
      await blobs.remove('a/b.tar');
      expect(await blobs.get('a/b.tar')).toBeNull();
    });

    it('knows folders from blobs', async () => {
      const blobs = await open();
      await blobs.put('a/b', Buffer.from('x'));
      expect(await blobs.get('a')).toBeNull();
      await blobs.remove('a');
      expect(await blobs.get('a/b/c')).toBeNull();
      expect(await textOf(await blobs.get('a/b'))).toBe('x');
    });

    it.each([
      ['at once', 1],
      ['after two parts of an upload', 20_000],
    ])('keeps the old blob when the new content fails %s', async (_when, chunks) => {
      const blobs = await open();
      await blobs.put('a', Buffer.from('old'));
      async function* failing(): AsyncGenerator<Uint8Array> {
        for (let count = 0; count < chunks; count += 1) yield* chunksOf('half of it'.repeat(100));
        throw new Error('the source is gone');
      }
      await expect(blobs.put('a', failing())).rejects.toThrow('the source is gone');
      expect(await textOf(await blobs.get('a'))).toBe('old');
    });

    it('takes what is larger than any part of it', async () => {
      const blobs = await open();
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      const hash = createHash('sha256');
      async function* large(): AsyncGenerator<Uint8Array> {
        for (let count = 0; count < 40; count += 1) {
          hash.update(chunk);
          yield await Promise.resolve(chunk);
        }
      }
      const written = await blobs.put('large', large());
      expect(written).toEqual({ bytes: 40 * chunk.byteLength, sha256: hash.digest('hex') });
      const read = createHash('sha256');
      for await (const part of (await blobs.get('large')) ?? []) read.update(part);
      expect(read.digest('hex')).toBe(written.sha256);
    });

    it('lets many write one key at once: one of them whole', async () => {
      const blobs = await open();
      const texts = Array.from({ length: 10 }, (_, index) => String(index).repeat(10_000));
      await Promise.all(
        texts.map((text) => blobs.put('a', chunksOf(text.slice(0, 5_000), text.slice(5_000)))),
      );
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
      const blobs = await open();
      await expect((async () => blobs.put(key, Buffer.from('x')))()).rejects.toMatchObject({
        code: 'invalid_request',
      });
      await expect((async () => blobs.get(key))()).rejects.toMatchObject({ code: 'invalid_request' });
      await expect((async () => blobs.remove(key))()).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });
}
