/**
 * The image as the members of an archive: files of this host, Node.js in a place of its own, and a small /etc.
 * Owns the layout and the order; content is read member by member.
 */
import { lstat, mkdtemp, open, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { containerUser } from '../container-user.ts';
import { walkTree, type WalkedEntry } from '../../workspace-archive/anchored-walk.ts';
import { npmOf, type FileSet } from './host-files.ts';

const NODE_HOME = 'opt/parley/node';
/** Where the image has Node.js. */
export const IMAGE_NODE = `/${NODE_HOME}/bin/node`;
const EPOCH = new Date(0);
/** Places that are filled when a container is made. */
const EMPTY_DIRECTORIES = [
  'dev',
  'proc',
  'sys',
  'run',
  'tmp',
  'home',

  'workspace',
  'agent',
  'var',
  'var/tmp',
];

/** The files of an image in the order in which its archive has them. */
export async function* imageEntries(files: FileSet): AsyncGenerator<WalkedEntry> {
  const made = await mkdtemp(join(tmpdir(), 'parley-image-'));
  try {
    const made_up = await etcFiles(made);
    const all = new Map([...[...files].map(([to, from]) => [to.slice(1), from] as const), ...made_up]);
    all.set(`${NODE_HOME}/bin/node`, await realpath(process.execPath));
    const paths = [...all.keys()].sort();
    for (const path of directoriesOf(paths)) yield { kind: 'directory', path, mode: 0o755, mtime: EPOCH };
    for (const path of paths) yield* fileEntry(path, all.get(path) ?? '');
    yield* npmEntries();
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function* fileEntry(path: string, from: string): AsyncGenerator<WalkedEntry> {
  const stat = await lstat(from);
  if (stat.isSymbolicLink()) {
    yield { kind: 'link', path, mtime: stat.mtime, target: await readlink(from) };
    return;
  }
  const file = await open(from, 'r');
  try {
    // Every user inside can read it, none can change it, and it never runs with the rights of its owner.
    const mode = (stat.mode & 0o111) === 0 ? 0o644 : 0o755;
    yield { kind: 'file', path, mode, mtime: stat.mtime, size: stat.size, blocksBytes: stat.size, file };
  } finally {
    await file.close();
  }
}

/** `npm` and `npx`, where this host's Node.js came with them. */
async function* npmEntries(): AsyncGenerator<WalkedEntry> {
  const npm = npmOf(process.execPath);
  if (npm === null) return;
  const to = `${NODE_HOME}/lib/node_modules/npm`;
  for (const path of directoriesOf([`${to}/x`])) {
    if (path.startsWith(`${NODE_HOME}/lib`)) yield { kind: 'directory', path, mode: 0o755, mtime: EPOCH };
  }
  for await (const entry of walkTree(npm)) yield { ...entry, path: `${to}/${entry.path}` };
  for (const name of ['npm', 'npx']) {
    const target = `../lib/node_modules/npm/bin/${name}-cli.js`;
    yield { kind: 'link', path: `${NODE_HOME}/bin/${name}`, mtime: EPOCH, target };
  }
}

/** Parents before children. */
function directoriesOf(paths: readonly string[]): readonly string[] {
  const found = new Set<string>(EMPTY_DIRECTORIES);
  for (const path of paths) {
    for (let dir = dirname(path); dir !== '.'; dir = dirname(dir)) found.add(dir);
  }
  return [...found].sort();
}

async function etcFiles(dir: string): Promise<readonly (readonly [string, string])[]> {
  const { uid, gid } = containerUser();
  const texts = {
    passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:${uid}:${gid}:agent:/home/agent:/bin/sh\n`,
    group: `root:x:0:\nagent:x:${gid}:\n`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  };
  const pairs: (readonly [string, string])[] = [];
  for (const [name, text] of Object.entries(texts)) {
    await writeFile(join(dir, name), text);
    pairs.push([`etc/${name}`, join(dir, name)]);
  }
  return pairs;
}
