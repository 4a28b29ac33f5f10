/**
 * Ends clusters of `npm run cluster:local` that were kept, or whose test was killed: `npm run cluster:down`.
 * Owns finding them and what is left of one: its first process, with which all others, its network and its mounts end,
 * its control groups, and its folder. Plain JavaScript without a dependency, as the installers are.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** Of the folders of clusters. */
export const PREFIX = 'rc-';
const CONTROL_GROUPS = '/sys/fs/cgroup';
const LOOK_MS = 50;
const STOP_MS = 30_000;

/** Folders of the control groups' controllers, and of version 2 beside them. */
export function hierarchies() {
  return readdirSync(CONTROL_GROUPS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(CONTROL_GROUPS, name));
}

/** Ends the machine with that folder, and removes what is left of it. Nothing to do is success. @param {string} dir */
export async function removeMachine(dir) {
  for (const pid of holdersOf(dir)) process.kill(pid, 'SIGKILL');
  await removeGroups(path.basename(dir));
  rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
}

/** Processes that hold the name spaces of that machine open: its first one, under `unshare`. */
function holdersOf(dir) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const [program = '', ...args] = commandLineOf(pid);
    return path.basename(program) === 'unshare' && args.some((arg) => arg.includes(`${dir}/`));
  });
}

/** Empty for one that has ended. */
function commandLineOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Processes that were killed leave their groups a moment later. */
async function removeGroups(name) {
  for (const until = Date.now() + STOP_MS; Date.now() < until; await pause(LOOK_MS)) {
    const left = hierarchies().filter((hierarchy) => existsSync(path.join(hierarchy, name)));
    if (left.length === 0) return;
    for (const hierarchy of left) {
      try {
        removeGroup(path.join(hierarchy, name));
      } catch {
        // Still in use: the next round tries again.
      }
    }
  }
}

function removeGroup(group) {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(path.join(group, entry.name));
  rmdirSync(group);
}

/** Folders of clusters on this machine, of every user. */
function machines() {
  const temporary = os.tmpdir();
  const names = readdirSync(temporary).filter((name) => name.startsWith(PREFIX));
  return names.map((name) => path.join(temporary, name)).filter((dir) => existsSync(path.join(dir, 'root')));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const dir of machines()) {
    await removeMachine(dir);
    process.stderr.write(`parley: ended the cluster in ${dir}\n`);
  }
}
