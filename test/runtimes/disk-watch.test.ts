/** Polls of what sandboxes keep on disk: which bound strikes, and which one ends if a file system is out of files. */
import { closeSync, mkdirSync, openSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { watchDisks, type DiskWatch, unlinkedBytes } from '../../runtimes/on-host/disk-watch.ts';
import { SOCKET_DIR_FILES_MAX } from '../../runtimes/on-host/limits.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const MEBIBYTE = 1024 ** 2;

/** Sandboxes of so many files each; the watch goes on until one is ended. */
async function firstEnded(
  files: Readonly<Record<string, number>>,
  given: Partial<DiskWatch<string>>,
): Promise<string> {
  const dir = tempDir();
  for (const [name, count] of Object.entries(files)) {
    mkdirSync(path.join(dir, name, 'socket'), { recursive: true });
    for (let at = 0; at < count; at += 1) writeFileSync(path.join(dir, name, `f${at}`), '');
  }
  let isOver = false;
  onTestFinished(() => void (isOver = true));
  return await new Promise((resolve) => {
    watchDisks<string>({
      ...{ bytesMax: null, filesMax: 1_000, everyMs: 20 },
      upNow: () => Promise.resolve(isOver ? [] : Object.keys(files)),
      treesOf: (name) => [path.join(dir, name)],
      socketDirOf: (name) => path.join(dir, name, 'socket'),
      processesOf: () => Promise.resolve([process.pid]),
      filesOf: () => Promise.resolve({ files: 1_000, ffree: 900 }),
      end: (name, bound) => Promise.resolve(resolve(`${name} ${bound}`)),
      ...given,
    });
  });
}

it('ends the one that keeps too many files', async () => {
  expect(await firstEnded({ a: 10, b: 60 }, { filesMax: 50 })).toBe('b files');
});

it('ends the one that makes a heap of files where its socket is', async () => {
  const dir = tempDir();
  for (let at = 0; at <= SOCKET_DIR_FILES_MAX; at += 1) writeFileSync(path.join(dir, `${at}`), '');
  expect(await firstEnded({ a: 1 }, { socketDirOf: () => dir })).toBe('a socket_folder');
});

it('ends the one with the most files when a file system has hardly any left', async () => {
  const filesOf: DiskWatch<string>['filesOf'] = () => Promise.resolve({ files: 1_000, ffree: 99 });
  expect(await firstEnded({ a: 10, b: 90, c: 70 }, { filesOf })).toBe('b file_system');
});

it('ends nobody for a file system that starves of others', async () => {
  const filesOf: DiskWatch<string>['filesOf'] = () => Promise.resolve({ files: 10_000, ffree: 0 });
  // The second has too many files of its own; it is the first that is ended at all.
  expect(await firstEnded({ a: 400, b: 1_100 }, { filesOf })).toBe('b files');
});

it('counts a file without a name once, by whoever holds it, while it is held', async () => {
  const dir = tempDir();
  const file = path.join(dir, 'held');
  const descriptors = [openSync(file, 'w'), openSync(file, 'r')];
  writeSync(descriptors[0] ?? -1, Buffer.alloc(3 * MEBIBYTE, 1));
  expect(await unlinkedBytes([process.pid], dir)).toBe(0);
  unlinkSync(file);
  expect(await unlinkedBytes([process.pid], dir)).toBeGreaterThanOrEqual(3 * MEBIBYTE);
  expect(await unlinkedBytes([process.pid], dir)).toBeLessThan(4 * MEBIBYTE);
  for (const descriptor of descriptors) closeSync(descriptor);
  expect(await unlinkedBytes([process.pid], dir)).toBe(0);
});
