/** Results of one run lie in one folder, whichever process goes on with it, from wherever. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const RUN = runId('run-1');
const OTHER = runId('run-2');
const text = (words: string): Uint8Array => new TextEncoder().encode(words);

it('keeps the results of a run where it began, and those of another where it is told', async () => {
  const folder = tempDir();
  const [first, second, notes] = ['first', 'second', 'notes'].map((name) => path.join(folder, name));
  if (first === undefined || second === undefined || notes === undefined) throw new Error('there are three');
  const file = { runId: RUN, key: 'one', name: 'a.txt' };
  const before = createResultsDirectory(first, notes);
  expect(before.location(RUN)).toBe(path.join(first, RUN));
  await before.write(file, text('a'));
  const after = createResultsDirectory(second, notes);
  await after.write({ ...file, name: 'b.txt' }, text('b'));
  await after.write({ ...file, runId: OTHER }, text('c'));
  expect(after.location(RUN)).toBe(path.join(first, RUN));
  expect(await after.names(RUN, 10)).toEqual(['one/a.txt', 'one/b.txt']);
  expect(Buffer.from((await after.read(file)) ?? []).toString()).toBe('a');
  expect(readFileSync(path.join(second, OTHER, 'one/a.txt'), 'utf8')).toBe('c');
  expect(existsSync(path.join(second, RUN))).toBe(false);
});

it('two that begin at once agree', async () => {
  const folder = tempDir();
  const notes = path.join(folder, 'notes');
  const all = ['a', 'b', 'c'].map((name) => createResultsDirectory(path.join(folder, name), notes));
  await Promise.all(all.map((one, at) => one.write({ runId: RUN, key: null, name: `${at}` }, text('x'))));
  for (const one of all) expect(await one.names(RUN, 10)).toEqual(['0', '1', '2']);
});
