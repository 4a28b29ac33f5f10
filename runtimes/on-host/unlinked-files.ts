/**
 * Files without a name that processes hold: no look at a tree sees them, and they are on the disk all the same.
 * Owns finding them by what processes have open or mapped; what another user's process does not tell counts as nothing.
 */
import { readFile, readdir, readlink, stat } from 'node:fs/promises';

/** How the kernel marks a name that is gone. */
const GONE = ' (deleted)';
/** Unit of `stat.blocks`, whatever the file system's own. */
const BLOCK_BYTES = 512;

/** Bytes on the file system that `tree` is on; each file counts once, whoever holds it. */
export async function unlinkedBytes(pids: readonly number[], tree: string): Promise<number> {
  const device = (await stat(tree).catch(() => null))?.dev;
  const sizes = new Map<number, number>();
  for (const pid of pids) {
    for (const link of [...(await openLinks(pid)), ...(await mappedLinks(pid))]) {
      const found = await stat(link).catch(() => null);
      if (found?.isFile() === true && found.dev === device) sizes.set(found.ino, found.blocks * BLOCK_BYTES);
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

async function openLinks(pid: number): Promise<readonly string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = names.map((name) => `/proc/${pid}/fd/${name}`);
  const targets = await Promise.all(links.map((link) => readlink(link).catch(() => '')));
  return links.filter((_, index) => targets[index]?.endsWith(GONE));
}

/** A file may be closed once it is mapped. The kernel follows these links for root alone. */
async function mappedLinks(pid: number): Promise<readonly string[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '');
  return maps
    .split('\n')
    .filter((line) => line.endsWith(GONE))
    .map(
      (line) => `/proc/${pid}/map_files/${line.slice(0, line.indexOf(' ')).replace(/(^|-)0+(?=.)/g, '$1')}`,
    );
}
