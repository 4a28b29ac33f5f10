/**
 * Which system calls a sandbox may not make.
 * Owns the list and its reasons; what is not named is allowed, and is bounded by namespaces and missing capabilities.
 */
import { SECCOMP_DATA, allow, encode, kill, load, refuse, unlessOneOf, when } from './bpf-program.ts';
import type { Instruction } from './bpf-program.ts';
import { AUDIT_ARCHITECTURES, systemCallNumber } from './system-calls.ts';
import type { FilteredProcessor, SystemCall } from './system-calls.ts';

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Calls of the other convention of x64 begin here; their numbers would pass by the list. */
const X32_BIT = 0x40000000;

/** Parts of the kernel that no build or test needs, and that holes were found in. */
const REFUSED: readonly SystemCall[] = [
  // The view of the file system is made once, from outside.
  ...(['mount', 'umount2', 'pivot_root', 'chroot', 'move_mount', 'fsopen', 'fsconfig', 'fsmount'] as const),
  ...(['fspick', 'open_tree', 'mount_setattr', 'quotactl', 'quotactl_fd', 'swapon', 'swapoff'] as const),
  // Namespaces inside a sandbox give back the privileges that were taken away.
  ...(['unshare', 'setns'] as const),
  // One process of the sandbox does not look into another: the Agent Server has the session key.
  ...(['ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'process_mrelease'] as const),
  ...(['pidfd_getfd', 'kcmp'] as const),
  // Files by handle lead around the view.
  ...(['open_by_handle_at', 'name_to_handle_at', 'fanotify_init'] as const),
  // Programs, traces and keys in the kernel are shared with the host.
  ...(['bpf', 'perf_event_open', 'userfaultfd', 'add_key', 'request_key', 'keyctl', 'syslog'] as const),
  ...(['lookup_dcookie', 'acct', 'nfsservctl', 'uselib', 'vhangup', 'migrate_pages', 'move_pages'] as const),
  // The machine itself.
  ...(['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module', 'reboot'] as const),
  ...(['settimeofday', 'clock_settime', 'clock_adjtime', 'sethostname', 'setdomainname'] as const),
  ...(['iopl', 'ioperm', 'modify_ldt'] as const),
];

/** Told as not there, so that callers take the older way, whose arguments a filter can see. */
const MISSING: readonly SystemCall[] = ['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'];

/** Every `CLONE_NEW*` that `clone` knows. */
const NAMESPACE_FLAGS = 0x7e020000;
/** Put text into a terminal's input (TIOCSTI), and the console's own way to the same (TIOCLINUX). */
const TERMINAL_INPUT = [0x5412, 0x541c];
/** Unix, IPv4, IPv6 and netlink: others, vsock above all, do not end at the network namespace. */
const SOCKET_FAMILIES = [1, 2, 10, 16];

/** The filter as the kernel takes it; null for a processor it was not written for. */
export function sandboxFilter(processor: string): Uint8Array | null {
  return processor === 'x64' || processor === 'arm64' ? encode(sandboxProgram(processor)) : null;
}

export function sandboxProgram(processor: FilteredProcessor): readonly Instruction[] {
  const on = (call: SystemCall, body: readonly Instruction[]): readonly Instruction[] => {
    const number = systemCallNumber(call, processor);
    return number === null ? [] : when('equal', number, body);
  };
  return [
    load(SECCOMP_DATA.architecture),
    // Another convention, 32 bits say, has other numbers.
    ...unlessOneOf([AUDIT_ARCHITECTURES[processor]], [kill()]),
    load(SECCOMP_DATA.number),
    ...(processor === 'x64' ? when('at_least', X32_BIT, [refuse(ENOSYS)]) : []),
    ...REFUSED.flatMap((call) => on(call, [refuse(EPERM)])),
    ...MISSING.flatMap((call) => on(call, [refuse(ENOSYS)])),
    ...on('clone', [
      load(SECCOMP_DATA.argument(0)),
      ...when('any_bit', NAMESPACE_FLAGS, [refuse(EPERM)]),
      allow(),
    ]),
    ...on('ioctl', [
      load(SECCOMP_DATA.argument(1)),
      ...TERMINAL_INPUT.flatMap((request) => when('equal', request, [refuse(EPERM)])),
      allow(),
    ]),
    ...on('socket', [
      load(SECCOMP_DATA.argument(0)),
      ...unlessOneOf(SOCKET_FAMILIES, [refuse(EAFNOSUPPORT)]),
      allow(),
    ]),
    allow(),
  ];
}
