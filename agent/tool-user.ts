/**
 * The user that programs of tools run as, where it is another one than the Agent Server's: they can then neither signal,
 * trace nor schedule the server, and the folders that hold its state and socket do not open for them (D31).
 * Owns starting a program as that user; runtimes/process/inside/other-user.ts is what makes the server another one.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions, StdioOptions } from 'node:child_process';
import { statSync } from 'node:fs';

const USER = /^(\d{1,10}):(\d{1,10})$/;
/** A folder that is never there: starting a program in it fails as in any other that is missing. */
const NO_FOLDER = '/proc/none';
/**
 * The server would enter a folder of its own that a link of a tool leads to, and the program would begin in it. So it is
 * entered by the tools' user.
 */
const ENTER = 'cd -- "$1" && shift && unset OLDPWD && exec "$@"';

export interface ToolUser {
  readonly uid: number;
  readonly gid: number;
}

/** Null: tools run as whoever the server runs as. */
export function toolUser(environment: Readonly<Record<string, string | undefined>>): ToolUser | null {
  const [, uid, gid] = USER.exec(environment['PARLEY_TOOLBOX_USER'] ?? '') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/** Further groups of the server are not handed on: the system drops them with the change of user. */
export function spawnAsUser(
  { uid, gid }: ToolUser,
  command: readonly string[],
  {
    cwd,
    env,
    stdio,
  }: { readonly cwd: string; readonly env: Record<string, string>; readonly stdio: StdioOptions },
): ChildProcess {
  const options: SpawnOptions = { env, uid, gid, detached: true, stdio };
  if (!isFolder(cwd)) return spawn('/bin/sh', [], { ...options, cwd: NO_FOLDER });
  return spawn('/bin/sh', ['-c', ENTER, 'sh', cwd, ...command], { ...options, cwd: '/' });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
