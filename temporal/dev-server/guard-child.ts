/**
 * Ends a child when this process is gone, however it went: a killed process cannot end its children itself.
 * Owns the watching; an orderly end stays with whoever started the child.
 */
import { spawn } from 'node:child_process';

/**
 * Reads until its input ends, which happens when we do, and then ends the child: first asked, and after ten seconds
 * of grace made to. The shell reads by itself: with a program for that there would be a second process to end.
 */
const SCRIPT = 'while read -r _; do :; done; kill -TERM "$1" || exit; sleep 10; kill -KILL "$1"';

/**
 * Watches over the child of id `pid`; returns how to stop watching, which must be called as soon as the child has ended
 * and resolves when the watcher has, too; a repeat waits as well. Where there is no POSIX shell the child is not watched, and outlives a kill of this process.
 */
export function guardChild(pid: number): () => Promise<void> {
  if (process.platform === 'win32') return () => Promise.resolve();
  // A session of its own: Ctrl-C of a terminal goes to the whole group, and the guard must outlive us.
  const guard = spawn('sh', ['-c', SCRIPT, 'parley-guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  // Without a shell there is no guard; the server works all the same.
  const gone = new Promise<void>((resolve) => guard.once('exit', resolve).once('error', () => resolve()));
  guard.unref();
  return () => {
    guard.ref();
    guard.kill('SIGKILL');
    return gone;
  };
}
