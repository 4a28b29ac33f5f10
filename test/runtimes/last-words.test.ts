/** What a disk watch leaves behind for the last words of a sandbox. */
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { DISK_LIMIT, diskLimitIn, lastWords, leaveDiskLimit } from '../../runtimes/on-host/last-words.ts';
import { tempDir } from '../helpers/temp-dir.ts';

it('writes why once: a sandbox that takes its time to end is looked at again, and read meanwhile', async () => {
  const file = path.join(tempDir(), 'ended-for');
  await leaveDiskLimit(file, 'files');
  const { mtimeNs, ino } = await stat(file, { bigint: true });
  const texts = await Promise.all(
    Array.from({ length: 200 }, async () => {
      await leaveDiskLimit(file, 'bytes');
      return await readFile(file, 'utf8');
    }),
  );
  expect(new Set(texts)).toEqual(new Set([`${DISK_LIMIT} files\n`]));
  const after = await stat(file, { bigint: true });
  expect([after.mtimeNs, after.ino]).toEqual([mtimeNs, ino]);
});

it('says so when it cannot be written', async () => {
  await expect(leaveDiskLimit(path.join(tempDir(), 'missing', 'ended-for'), 'bytes')).rejects.toThrow(
    /ENOENT/,
  );
});

it.each([
  ['disk_limit bytes\n', 'bytes', 'more on disk'],
  ['disk_limit\n', 'bytes', 'more on disk'],
  ['disk_limit files\n', 'files', 'more files on disk'],
  ['disk_limit file_system\n', 'file_system', 'hardly any left'],
  ['disk_limit socket_folder\n', 'socket_folder', 'where its socket is'],
])('tells %j', (text, bound, words) => {
  const cause = diskLimitIn(text);
  expect(cause).toEqual({ kind: 'disk_limit', bound });
  expect(lastWords(cause ?? { kind: 'exit', exitCode: 0 }, '')).toContain(words);
  expect(diskLimitIn('something else')).toBeNull();
});
