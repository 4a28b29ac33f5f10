/**
 * System calls that no sandbox may make, and why; and those that it may make with some arguments only. What stands
 * neither here nor in allowed-calls.ts is answered as not there.
 * Owns the lists; each runtime brings them into the form its kernel interface takes.
 */
import type { SystemCall } from './system-calls.ts';

/** Answered as a matter of permission. Parts of the kernel that no build or test needs, and that holes were found in. */
export const REFUSED_CALLS: readonly SystemCall[] = [
  // The view of the file system is made once, from outside.
  ...(['mount', 'umount2', 'pivot_root', 'chroot', 'move_mount', 'fsopen', 'fsconfig', 'fsmount'] as const),
  ...(['fspick', 'open_tree', 'mount_setattr', 'quotactl', 'quotactl_fd', 'swapon', 'swapoff'] as const),
  // Namespaces inside a sandbox give back the privileges that were taken away.
  ...(['unshare', 'setns'] as const),
  // One process of the sandbox does not read another: the Agent Server has the session key.
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

/**
 * What the Agent Server needs of them to make the place of its tools, which get the whole filter; it runs nothing that
 * came from elsewhere. Namespaces by `clone` are let through with these.
 */
export const PLACE_CALLS: readonly SystemCall[] = ['mount', 'umount2', 'pivot_root', 'unshare', 'setns'];

/** Answered as not there, so that callers take the older way, whose arguments a filter can see. */
export const MISSING_CALLS: readonly SystemCall[] = [
  'clone3',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
];

/** Every `CLONE_NEW*` that `clone` knows. */
export const NAMESPACE_FLAGS = 0x7e020000;
/** Put text into a terminal's input (TIOCSTI), and the console's own way to the same (TIOCLINUX). */
export const TERMINAL_INPUT = [0x5412, 0x541c];
/** Plain Linux, with or without randomised addresses, and how a program asks which one it has (0xffffffff). */
export const PERSONALITIES = [0, 8, 0x20000, 0x20008, 0x40000, 0x40008, 0xffffffff];
/** Unix, IPv4, IPv6 and netlink: others, vsock above all, do not end at the network namespace. */
export const SOCKET_FAMILIES = [1, 2, 10, 16];
