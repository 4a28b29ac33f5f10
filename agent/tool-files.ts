/**
 * Files that tools reach as well, read and written for a caller. A tool may swap a folder or a file for a link at any
 * moment, and the Agent Server sees more than tools do (D31). So what is written is written by a program in the tools'
 * place, where nothing else is; and what was opened for reading is checked once it is open, and no sooner.
 */
import { constants } from 'node:fs';
import { open, readlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';

import { runChild } from './workspace/child.ts';
import { FILE_WRITE_MS } from './limits.ts';
import { shellEnvironment } from './workspace/shell-environment.ts';
import { withheldFolders } from './toolbox.ts';

/** Not blocking, because a file may have become a pipe since it was checked. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
/** Through a link into its file: mode, owner and links stay. */
const WRITE = 'mkdir -p -- "$2" && exec cat <&3 > "$1"';
const MAKE = 'exec mkdir -p -- "$1"';
const MOVE = 'exec mv -f -- "$1" "$2"';
const REMOVE = 'exec rm -rf -- "$1"';
/** What a program prints about its failure, up to here. */
const COMPLAINT_CHARS_MAX = 500;

/** Open for reading. @throws the system's error; Error it leads to what is kept from tools */
export async function openReachable(path: string): Promise<FileHandle> {
  const file = await open(path, READ);
  try {
    await checkReachable(file);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function checkReachable(file: FileHandle): Promise<void> {
  const folders = withheldFolders();
  if (folders.length === 0) return;
  const real = await readlink(`/proc/self/fd/${file.fd}`);
  if ([...folders, '/proc'].some((folder) => real.startsWith(`${folder}/`)))
    throw new Error('it is kept from tools');
}

/** The whole file. @throws as `openReachable` */
export async function readReachable(path: string): Promise<Buffer> {
  const file = await openReachable(path);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Writes in place, and makes missing folders on the way. @throws Error it cannot be written, with the reason */
export async function writeReachable(path: string, content: string | Buffer | Readable): Promise<void> {
  await run(WRITE, [path, dirname(path)], content);
}

/** With missing folders on the way to it, as the user that tools run as. @throws Error as `writeReachable` */
export async function makeFolder(path: string): Promise<void> {
  await run(MAKE, [path]);
}

/** Takes the place of what is there. @throws Error as `writeReachable` */
export async function moveReachable(from: string, to: string): Promise<void> {
  await run(MOVE, [from, to]);
}

/** A file, or a folder with what is in it; success where there is none. @throws Error as `writeReachable` */
export async function removeReachable(path: string): Promise<void> {
  await run(REMOVE, [path]);
}

async function run(
  script: string,
  paths: readonly string[],
  content: string | Buffer | Readable = '',
): Promise<void> {
  let complaint = '';
  const code = await runChild({
    program: 'sh',
    args: ['-c', script, 'sh', ...paths],
    cwd: '/',
    env: { ...shellEnvironment({}), LC_ALL: 'C' },
    script: content,
    timeoutMs: FILE_WRITE_MS,
    onStdout: () => undefined,
    onStderr: (chunk) => (complaint = (complaint + chunk.toString('utf8')).slice(0, COMPLAINT_CHARS_MAX)),
  });
  if (code === null) throw new Error(`no end within ${FILE_WRITE_MS} ms`);
  if (code !== 0) throw new Error(complaint.trim() || `exit code ${code}`);
}
