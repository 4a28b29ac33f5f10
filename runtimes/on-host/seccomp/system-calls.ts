/**
 * Numbers of the system calls that the filter speaks of, per processor.
 * Owns the table; they are part of the kernel's interface and never change. Must not say what is refused. Those that need no
 * further rule have theirs in allowed-calls.ts.
 */

/** Processors that have a filter, by the name Node.js gives them. */
export type FilteredProcessor = 'x64' | 'arm64';

/** `AUDIT_ARCH_*`: how the kernel names the calling convention of a system call. */
export const AUDIT_ARCHITECTURES: Readonly<Record<FilteredProcessor, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

const COLUMN: Readonly<Record<FilteredProcessor, 0 | 1>> = { x64: 0, arm64: 1 };

/** Per name: x64, arm64; null where the processor has no such call. */
const NUMBERS = {
  acct: [163, 89],
  add_key: [248, 217],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173, null],
  iopl: [172, null],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  migrate_pages: [256, 238],
  modify_ldt: [154, null],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  name_to_handle_at: [303, 264],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  socket: [41, 198],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134, null],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
} as const satisfies Readonly<Record<string, readonly [number, number | null]>>;

export type SystemCall = keyof typeof NUMBERS;

export function systemCallNumber(call: SystemCall, processor: FilteredProcessor): number | null {
  return NUMBERS[call][COLUMN[processor]];
}
