/**
 * Ends a child when this process is gone, however it went: a killed process cannot end its children itself.
 * Owns the watching; an orderly end stays with whoever started the child.
 */
import { spawn } from 'node:child_process';

/**
 * Reads until its input ends, which happens when we do, and then ends the child: first asked, and after ten seconds
 * of grace made to.
 */
const SCRIPT = 'cat >/dev/null; kill -TERM "$1" || exit; sleep 10; kill -KILL "$1"';

/**
 * Watches over the child of id `pid`; returns how to stop watching, which must be called as soon as the child has ended.
 * Where there is no POSIX shell the child is not watched, and outlives a kill of this process.
 */
export function guardChild(pid: number): () => void {
  if (process.platform === 'win32') return () => undefined;
  // A session of its own: Ctrl-C of a terminal goes to the whole group, and the guard must outlive us.
  const guard = spawn('sh', ['-c', SCRIPT, 'parley-guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell there is no guard; the server works all the same.
  guard.on('error', () => undefined);
  guard.unref();
  return () => endGroup(guard.pid);
}

/** The shell and what it has started; both have gone when nobody is left in the group. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
