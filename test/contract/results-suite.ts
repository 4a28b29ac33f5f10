/** What every Results does: files by run, key and name, replaced whole, listed, and none that leads elsewhere. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { runId, type RunId } from '../../core/ids.ts';
import type { Results } from '../../ports/results.ts';
import { chunksOf } from './blob-suite.ts';

const newRun = (): RunId => runId(`r${randomBytes(8).toString('hex')}`);
const text = (content: Uint8Array | null): string | null => content && Buffer.from(content).toString();

/** `begin` gives, in each test, what opens the same place any number of times. */
export function resultsSuite(begin: () => () => Promise<Results>): void {
  describe('Results', () => {
    it('are read as they were written last, from whoever asks', async () => {
      const open = begin();
      const [writer, reader, run] = [await open(), await open(), newRun()];
      const file = { runId: run, key: 'an/item', name: 'logs/x.log' };
      expect(await reader.read(file)).toBeNull();
      await writer.write(file, Buffer.from('one'));
      expect(text(await reader.read(file))).toBe('one');
      await writer.write(file, chunksOf('t', 'wo'));
      expect(text(await reader.read(file))).toBe('two');
      expect(text(await reader.read({ ...file, key: null }))).toBeNull();
      expect(reader.location(run)).toContain(run);
    });

    it('are listed below their run, sorted, and no more than asked for', async () => {
      const [results, run, other] = [await begin()(), newRun(), newRun()];
      expect(await results.names(run, 10)).toEqual([]);
      const names = ['b.txt', 'a/ü and %20.md', 'a/deep/er/x', 'a.txt'];
      for (const name of names) await results.write({ runId: run, key: null, name }, Buffer.from(name));
      await results.write({ runId: run, key: 'k', name: 'y' }, Buffer.from('y'));
      await results.write({ runId: other, key: null, name: 'z' }, Buffer.from('z'));
      const all = [...names, 'k/y'].sort();
      expect(await results.names(run, 100)).toEqual(all);
      expect(all).toEqual(expect.arrayContaining([...(await results.names(run, 2))]));
      expect(await results.names(run, 2)).toHaveLength(2);
      const sized = all.map((name) => ({ name, bytes: name === 'k/y' ? 1 : Buffer.byteLength(name) }));
      expect(await results.files({ runId: run, key: null }, 100)).toEqual(sized);
      expect(await results.files({ runId: run, key: 'k' }, 100)).toEqual([{ name: 'y', bytes: 1 }]);
      expect(await results.files({ runId: run, key: 'none' }, 100)).toEqual([]);
    });

    it('are read as far as somebody wants', async () => {
      const [results, run] = [await begin()(), newRun()];
      const file = { runId: run, key: null, name: 'long' };
      await results.write(file, chunksOf('a'.repeat(100_000), 'b'.repeat(100_000)));
      expect(text(await results.read(file, 100_001))).toBe(`${'a'.repeat(100_000)}b`);
      expect((await results.read(file, 1_000_000))?.byteLength).toBe(200_000);
      expect(text(await results.read(file, 0))).toBe('');
    });

    it('are not replaced by content that fails', async () => {
      const [results, run] = [await begin()(), newRun()];
      const file = { runId: run, key: null, name: 'x' };
      await results.write(file, Buffer.from('old'));
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield* chunksOf('half');
        throw new Error('the source is gone');
      }
      await expect(results.write(file, failing())).rejects.toThrow('the source is gone');
      expect(text(await results.read(file))).toBe('old');
    });

    it.each(['../x', 'a/../../x', '.', '/x', 'a//b', 'a\u0000', 'a\\b'])(
      'refuse the name %j',
      async (name) => {
        const [results, run] = [await begin()(), newRun()];
        const file = { runId: run, key: null, name };
        await expect(results.write(file, Buffer.from('x'))).rejects.toMatchObject({
          code: 'invalid_request',
        });
        await expect((async () => results.read(file))()).rejects.toMatchObject({ code: 'invalid_request' });
      },
    );
  });
}
