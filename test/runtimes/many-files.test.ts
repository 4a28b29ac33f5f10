/**
 * Tens of thousands of files that a sandbox left: in a process that is busy with others, none waits for a turn of its own.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { removeTree } from '../../runtimes/on-host/remove-tree.ts';
import { exportDirectory } from '../../runtimes/workspace-archive/export-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const FILES = 1_000;
/** What others do in each turn of the event loop. */
const BUSY_MS = 1;

/** Turns that the work takes, in each of which others keep the process busy. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const turn = (): void => {
    turns += 1;
    const until = performance.now() + BUSY_MS;
    while (performance.now() < until);
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work().finally(() => (isOver = true));
  return turns;
}

it('are archived and removed in far fewer turns than there are files', async () => {
  const root = path.join(tempDir(), 'tree');
  mkdirSync(root);
  for (let at = 0; at < FILES; at += 1) writeFileSync(path.join(root, String(at)), '');
  const archiving = await turnsOf(async () => {
    for await (const chunk of exportDirectory(root)) expect(chunk.length).toBeGreaterThan(0);
  });
  const removing = await turnsOf(() => removeTree(root));
  expect(existsSync(root)).toBe(false);
  expect(
    { archiving: archiving < FILES / 2, removing: removing < FILES / 2 },
    `${archiving}, ${removing}`,
  ).toEqual({
    archiving: true,
    removing: true,
  });
});
