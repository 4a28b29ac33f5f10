/**
 * How a sandbox leaves its first trace: the launched process writes down who it is before it becomes the sandbox.
 * Owns the shell text that writes the process file, and reading that file back.
 */
import { readFile } from 'node:fs/promises';
import { startOfStat, type ProcessIdentity } from './process-table.ts';

/**
 * Arguments: process file, status file (descriptor 3 of what follows), filter file (descriptor 4, or empty), largest
 * file in blocks of 512 bytes and largest data segment in KiB (or empty), the number of control groups and the files
 * through which they are entered, then the command. Descriptor 5 is passed on. `exec` keeps number and start
 * instant, so there is no moment at which something runs and is not written down. `ln` refuses to replace a file that
 * exists: of two launches at once, one ends here. Core dumps would hold keys and are off.
 */
export const LAUNCH_SCRIPT = `
set -eu
umask 077
ulimit -c 0
if [ -r "/proc/$$/stat" ]; then
  read -r boot < /proc/sys/kernel/random/boot_id
  read -r line < "/proc/$$/stat"
else
  boot=ps
  line=$(LC_ALL=C ps -o lstart= -p $$)
fi
printf '%s\\n%s\\n%s\\n' "$$" "$boot" "$line" > "$1.$$"
ln "$1.$$" "$1"
rm -f "$1.$$"
exec 3> "$2"
if [ -n "$3" ]; then exec 4< "$3"; fi
if [ -n "$4" ]; then ulimit -f "$4"; fi
if [ -n "$5" ]; then ulimit -d "$5"; fi
groups=$6
shift 6
while [ "$groups" -gt 0 ]; do
  printf '%s' "$$" > "$1"
  groups=$((groups - 1))
  shift
done
exec "$@"
`;

/** Who was launched; null when nothing has been written yet. */
export async function readLaunched(processFile: string): Promise<ProcessIdentity | null> {
  const text = await readFile(processFile, 'utf8').catch(() => null);
  const [pidText = '', boot = '', line = ''] = (text ?? '').split('\n');
  const pid = Number(pidText);
  if (!Number.isInteger(pid) || pid <= 1) return null;
  const startedAt = boot === 'ps' ? line.trim() : startOfStat(line, boot);
  return startedAt === null || startedAt === '' ? null : { pid, startedAt };
}
