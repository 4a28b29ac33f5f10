/**
 * Starting bubblewrap as another user, which cannot pass the folders of ours that lead to what it binds.
 * Owns a mount namespace of the launch alone, in which root binds each of them once more at a place open to all users;
 * nothing of it is seen outside, and it goes with the sandbox.
 */
import { existsSync, lstatSync, statSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/** Folders of every system; whatever lies in one is covered for bubblewrap alone. */
const PLACES = ['/mnt', '/media', '/srv', '/opt', '/tmp'];
const OTHERS_PASS = 0o001;
const OTHERS_READ = 0o004;
const NAME = 'parley-stage';

/**
 * Arguments: the place, the user, the table of mounts, how many folders and files are in it, then the command. The table
 * is read by one program, because one for each line would take longer than all else of a launch.
 */
const STAGE_SCRIPT = `
set -eu
place=$1 user=$2 table=$3 folders=$4 files=$5
shift 5
mount -t tmpfs -o mode=0711,size=1m ${NAME} "$place"
cd "$place"
names= index=0
while [ "$index" -lt "$folders" ]; do names="$names d$index" index=$((index + 1)); done
if [ -n "$names" ]; then mkdir $names; fi
index=0
while [ "$index" -lt "$files" ]; do : > "f$index"; index=$((index + 1)); done
if [ -s "$table" ]; then mount -a -T "$table"; fi
cd /
exec setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@"
`;

export interface Stage {
  /** Where bubblewrap finds what lies at `path`. */
  readonly at: (path: string) => string;
  /** As mount(8) reads it. */
  readonly table: () => string;
  /** The command line that runs `command` as that user. */
  readonly command: (user: number, tableFile: string, command: readonly string[]) => readonly string[];
}

/** `sources`: all that will be bound. */
export function createStage(sources: readonly string[]): Stage {
  const place = PLACES.find((one) => isFolder(one) && sources.every((source) => leadsOut(one, source)));
  const staged = new Map<string, string>();
  const counts = { d: 0, f: 0 };
  return {
    at: (path) => {
      if (place === undefined || !existsSync(path) || isOpenToAll(path)) return path;
      const kind = statSync(path).isDirectory() ? 'd' : 'f';
      const found = staged.get(path) ?? `${place}/${kind}${counts[kind]++}`;
      staged.set(path, found);
      return found;
    },
    table: () => [...staged].map(([from, to]) => `${escaped(from)} ${to} none rbind 0 0\n`).join(''),
    command: (user, tableFile, command) => [
      ...['unshare', '--mount', '--', '/bin/sh', '-c', STAGE_SCRIPT, NAME],
      ...[place ?? '/tmp', String(user), tableFile, String(counts.d), String(counts.f), ...command],
    ],
  };
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function leadsOut(place: string, path: string): boolean {
  return relative(place, path).startsWith('..');
}

/** Whether every user reaches it, and reads it. */
function isOpenToAll(path: string): boolean {
  const { mode } = statSync(path);
  if ((mode & OTHERS_READ) === 0) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & OTHERS_PASS) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/** Blanks would end the word. */
function escaped(path: string): string {
  return path.replace(/[\s\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
