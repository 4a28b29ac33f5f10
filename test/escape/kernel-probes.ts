/**
 * Attempts on the kernel: system calls that a sandbox must not reach, and the kernel's own files.
 * Owns the scripts; must not run them. Arguments are such that a call that is allowed changes nothing.
 */
import { systemCallNumber } from '../../runtimes/on-host/seccomp/system-calls.ts';
import type { SystemCall } from '../../runtimes/on-host/seccomp/system-calls.ts';
import { ESCAPED, ifPrints, ifSucceeds } from './probe.ts';
import type { Probe } from './probe.ts';

/** Refused by permission, or reported as absent; any other answer comes from the call itself. */
const DENIALS = [1, 38];

/** Escapes when the call is reached. `args` are Perl. */
function reaches(call: SystemCall, args: string): string {
  const number = systemCallNumber(call, process.arch === 'arm64' ? 'arm64' : 'x64');
  const denied = DENIALS.map((code) => `$e == ${code}`).join(' || ');
  const code = `$! = 0; my $r = syscall(${number ?? -1}${args === '' ? '' : `, ${args}`}); my $e = $! + 0; print "${ESCAPED}\\n" unless $r == -1 && (${denied});`;
  return `perl -e '${code}'`;
}

const probe = (name: string, script: string, onPlain: Probe['onPlain']): Probe => ({
  name,
  script: () => script,
  onPlain,
});

export const KERNEL_PROBES: readonly Probe[] = [
  probe('traces a process', reaches('ptrace', '0, 0, 0, 0'), 'escapes'),
  probe('reads the memory of a process', reaches('process_vm_readv', '$$, 0, 0, 0, 0, 0'), 'escapes'),
  probe('writes the memory of a process', reaches('process_vm_writev', '$$, 0, 0, 0, 0, 0'), 'escapes'),
  probe('takes a descriptor of another process', reaches('pidfd_getfd', '-1, 0, 0'), 'escapes'),
  probe('mounts a file system', reaches('mount', '0, 0, 0, 0, 0'), 'escapes_as_root'),
  probe('mounts by the newer calls', reaches('fsopen', '0, 0'), 'escapes_as_root'),
  probe('copies a mount', reaches('open_tree', '-1, 0, 0'), 'escapes'),
  probe('changes its root', reaches('pivot_root', '0, 0'), 'escapes_as_root'),
  probe('makes a user namespace', ifSucceeds('unshare -U true'), 'unjudged'),
  probe('becomes root in a user namespace', ifSucceeds('unshare -Ur true'), 'unjudged'),
  probe('makes namespaces by the call', reaches('unshare', '0x10000000'), 'unjudged'),
  probe('makes a namespace with a new process', reaches('clone', '0x10000000 | 17, 0, 0, 0, 0'), 'not_run'),
  probe('enters a namespace', reaches('setns', '-1, 0'), 'escapes'),
  probe('types into a terminal (TIOCSTI)', reaches('ioctl', '0, 0x5412, 0'), 'escapes'),
  probe('types into a terminal by a longer number', reaches('ioctl', '0, 0x700005412, 0'), 'escapes'),
  probe('loads a program into the kernel', reaches('bpf', '0, 0, 0'), 'escapes_as_root'),
  probe('traces the machine', reaches('perf_event_open', '0, 0, 0, 0, 0'), 'escapes'),
  // Each reaches its own check of arguments where the filter lets it through.
  probe('compares two processes', reaches('kcmp', '-1, -1, 0, 0, 0'), 'escapes'),
  probe('asks for the handle of a file', reaches('name_to_handle_at', '-1, 0, 0, 0, 0'), 'escapes'),
  probe('advises the memory of another process', reaches('process_madvise', '-1, 0, 0, 0, 0'), 'escapes'),
  probe('reaps the memory of another process', reaches('process_mrelease', '-1, 0'), 'escapes'),
  probe('moves pages of a process', reaches('move_pages', '$$, 0, 0, 0, 0, 0'), 'escapes'),
  probe('adds a key to the kernel', reaches('add_key', '0, 0, 0, 0, 0'), 'escapes'),
  probe('asks for a key of the kernel', reaches('request_key', '0, 0, 0, 0'), 'escapes'),
  probe('changes its root folder', reaches('chroot', '0'), 'escapes'),
  probe('watches whole file systems', reaches('fanotify_init', '0xffff, 0'), 'escapes_as_root'),
  probe('sets the clock', reaches('clock_settime', '0, 0'), 'escapes'),
  probe('adjusts the clock', reaches('clock_adjtime', '0, 0'), 'escapes'),
  probe('makes a process by the newest call', reaches('clone3', '0, 0'), 'escapes'),
  probe('writes down what processes do', reaches('acct', '1'), 'escapes_as_root'),
  probe('names the machine', reaches('sethostname', '0, -1'), 'escapes_as_root'),
  probe('names the domain', reaches('setdomainname', '0, -1'), 'escapes_as_root'),
  probe('moves a mount', reaches('move_mount', '-1, 0, -1, 0, 0'), 'escapes_as_root'),
  probe('changes a mount', reaches('mount_setattr', '-1, 0, 0, 0, 0'), 'escapes'),
  probe('picks a file system', reaches('fspick', '-1, 0, 0'), 'escapes_as_root'),
  probe('takes a file system away', reaches('umount2', '0, 0xffff'), 'escapes'),
  probe('swaps to a file', reaches('swapon', '0, 0'), 'escapes_as_root'),
  probe('keeps a key in the kernel', reaches('keyctl', '0, -3, 0'), 'escapes'),
  probe('handles page faults', reaches('userfaultfd', '0xffff'), 'escapes'),
  probe('uses the ring of system calls', reaches('io_uring_setup', '0, 0'), 'unjudged'),
  probe('opens a file by its handle', reaches('open_by_handle_at', '-1, 0, 0'), 'escapes_as_root'),
  probe('replaces the kernel', reaches('kexec_load', '0, 0, 0, 0xffff'), 'unjudged'),
  probe('loads a module', reaches('finit_module', '-1, 0, 0'), 'unjudged'),
  probe('reads the log of the kernel', reaches('syslog', '10, 0, 0'), 'unjudged'),
  probe('restarts the machine', reaches('reboot', '0, 0, 0, 0'), 'unjudged'),
  probe(
    'sets what runs when a program crashes',
    ifSucceeds('sh -c ": >> /proc/sys/kernel/core_pattern"'),
    'escapes_as_root',
  ),
  probe(
    'writes to a file of the kernel',
    // What is masked by a device is listed as a file by its directory, so each is checked.
    `find /proc -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null | xargs -r stat -c %F 2>/dev/null | grep -q '^regular' && echo ${ESCAPED}`,
    'escapes_as_root',
  ),
  probe(
    'gives orders to the kernel by its trigger',
    ifSucceeds('sh -c ": >> /proc/sysrq-trigger"'),
    'unjudged',
  ),
  probe('finds the control groups', ifPrints('ls /sys/fs/cgroup', 'cgroup'), 'unjudged'),
  probe(
    'reads the addresses of the kernel',
    `grep -qv '^0000000000000000' /proc/kallsyms 2>/dev/null && echo ${ESCAPED}`,
    'unjudged',
  ),
];
