/**
 * A sandbox that root starts belongs to a user of its own on the host, so that the kernel counts it apart from all others,
 * and what gets out is nobody. Owns giving that user what it may write; an ordinary user can give nothing away, so its
 * sandboxes are that user's.
 */
import { execFile } from 'node:child_process';
import { chown, lstat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Trees of a former owner; millions of files take minutes. */
const GIVE_TIMEOUT_MS = 600_000;

/** A directory with what is in it; links are given and never followed. Nothing of the sandbox may run. */
export async function giveTo(user: number, directory: string): Promise<void> {
  const { uid, gid } = await lstat(directory);
  if (uid === user && gid === user) return;
  await run('chown', ['-hR', `${user}:${user}`, '--', directory], {
    timeout: GIVE_TIMEOUT_MS,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  // Last, because by its owner the whole is judged: what broke off half way begins again.
  await chown(directory, user, user);
}
