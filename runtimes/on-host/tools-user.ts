/**
 * The user of the tools in a container whose Agent Server is another one: root without any right but to change users, to
 * signal, and to keep these from what it starts, which touches files as the tools' user. A tool can then neither signal, trace nor schedule the server, and
 * the folder that holds its state and socket does not open for it (D31).
 * Owns the numbers, the rights, and the object with which a process takes that user on for files;
 * runtimes/process/inside/other-user.ts does the rest inside.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCallObject, type SystemCall } from './guard/system-call-object.ts';

export interface ToolsUser {
  readonly uid: number;
  readonly gid: number;
}

/** The user that a container begins as. */
export const SERVER_USER = 0;
/** Whose folders open for the Agent Server alone: below the users of sandboxes, and no user's on any host. */
export const SERVER_GROUP = 1_899_999_998;
/** All that is left of root's rights: files of others, devices and the kernel's settings are not among them. */
export const SERVER_RIGHTS = ['SETUID', 'SETGID', 'KILL', 'SETPCAP'];
/** The same by their numbers. */
const RIGHTS = [7, 6, 5, 8];
const PR_CAPBSET_DROP = 24;

/**
 * `setfsuid(USER)`, and for each right `prctl(PR_CAPBSET_DROP)`: it stays with the process that loads the object, and
 * nothing that is started later gets it. Null for a processor it was not written for.
 */
export function filesAsObject(processor: string, { uid }: ToolsUser): Uint8Array | null {
  const drops = RIGHTS.map((right): SystemCall => ({
    number: { x64: 157, arm64: 167 },
    args: [PR_CAPBSET_DROP, right, 0],
  }));
  return systemCallObject(processor, { number: { x64: 122, arm64: 151 }, args: [uid, 0, 0] }, ...drops);
}

/** Writes that object; its path, or null where there is none. */
export async function prepareFilesAs(dir: string, user: ToolsUser): Promise<string | null> {
  const bytes = filesAsObject(process.arch, user);
  if (bytes === null) return null;
  await mkdir(dir, { recursive: true, mode: 0o755 });
  const file = join(dir, 'files-as.node');
  await writeFile(file, bytes, { mode: 0o644 });
  return file;
}
