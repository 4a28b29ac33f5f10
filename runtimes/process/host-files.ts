/**
 * The files a namespace needs besides /usr.
 * Owns the made-up /etc and finding the Node.js installation; must not know a lifecycle.
 */
import { existsSync } from 'node:fs';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Bind } from './bwrap-arguments.ts';
import { INSIDE } from '../on-host/inside-view.ts';

const ETC_FILES: Readonly<Record<string, string>> = {
  passwd:
    'root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n' +
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  group: 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
};

/** Writes the made-up files into a directory of one sandbox, while nothing of it runs. */
export async function prepareEtc(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o755 });
  for (const [name, text] of Object.entries(ETC_FILES))
    await writeFile(join(dir, name), text, { mode: 0o644 });
}

/**
 * The path of Node.js inside, and what must be bound for it. Below /usr it is there already; an installation of its
 * own is bound whole, a lone program (which may lie in a user's home) by itself.
 */
export async function nodeInside(): Promise<{ readonly path: string; readonly binds: readonly Bind[] }> {
  const program = await realpath(process.execPath);
  if (program.startsWith('/usr/')) return { path: program, binds: [] };
  const root = dirname(dirname(program));
  const inside = join(INSIDE.tools, 'node');
  const path = join(inside, 'bin', 'node');
  if (basename(program) === 'node' && existsSync(join(root, 'lib/node_modules/npm'))) {
    return { path, binds: [{ from: root, to: inside }] };
  }
  return { path, binds: [{ from: program, to: path }] };
}
