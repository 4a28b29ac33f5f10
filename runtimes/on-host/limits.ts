/**
 * Every bound of the runtimes, with its reason.
 * Owns constants only.
 */
import type { SandboxLimits } from '../../ports/sandbox-runtime.ts';

/** Time between the request to end and the kill: an agent server flushes its callbacks in less. */
export const STOP_GRACE_MS = 5_000;
/** Time the kernel gets to remove killed processes; past it something is stuck and nothing is known. */
export const KILL_WAIT_MS = 5_000;
/** Time between launching a sandbox and its first sign in the file system. */
export const LAUNCH_WAIT_MS = 5_000;
/** Time between two polls of something that is about to change. */
export const POLL_MS = 25;
/** Time between two health probes of a server that is booting. */
export const PROBE_INTERVAL_MS = 50;
/** Time between two polls for the socket of one that has none yet: a poll costs microseconds, and a start waits. */
export const SOCKET_POLL_MS = 5;
/** One health probe; a server that is up answers in milliseconds. */
export const PROBE_TIMEOUT_MS = 2_000;
/** The trial run that decides whether namespaces work here. */
export const ISOLATION_PROBE_TIMEOUT_MS = 10_000;

/** Time between two measurements of the disk use of sandboxes: what is written in between is the overshoot. */
export const DISK_POLL_MS = 5_000;
/** Files and folders of one sandbox: above what the largest repositories unpack to. */
export const SANDBOX_FILES_MAX = 1_000_000;
/** Of the files that a file system can have, so many must be left for other users of it. */
export const FREE_FILES_SHARE_MIN = 0.1;
/** A sandbox with fewer is not what the file system starves of. */
export const STARVING_FILES_SHARE_MIN = 0.05;
/** Files where a sandbox makes the socket of its Agent Server: it needs one, and is ended for a heap of them. */
export const SOCKET_DIR_FILES_MAX = 256;
/** One measurement; a tree that takes longer is measured again next time. */
export const DISK_POLL_TIMEOUT_MS = 30_000;
/** Time the kernel gets to let every process of a sandbox stand still. */
export const FREEZE_WAIT_MS = 5_000;

const MEBIBYTE = 1024 ** 2;
/**
 * Bounds of a sandbox when a deployment says nothing: above what builds and tests of one repository take, and low
 * enough that one sandbox does not end a host that serves several. Processors are shared by weight, so they have none.
 */
export const DEFAULT_LIMITS: SandboxLimits = {
  memoryBytes: 4_096 * MEBIBYTE,
  processes: 512,
  cpus: null,
  fileBytes: 4_096 * MEBIBYTE,
  workspaceBytes: 10_240 * MEBIBYTE,
};

/** Log kept per sandbox. */
export const LOG_BYTES_MAX = 10 * 1024 * 1024;
/** The end of the log that is read, and quoted, when a sandbox died. */
export const LAST_WORDS_BYTES_MAX = 4 * 1024;
export const LAST_WORDS_LINES_MAX = 12;

/** `sun_path` holds 108 bytes with its terminator. */
export const SOCKET_PATH_BYTES_MAX = 107;
/** Ended sandboxes whose generation is remembered, so that a late start does not bring one back (D14). */
export const REMEMBERED_REMOVALS_MAX = 4_096;
/** Rounds of searching for processes that were started while others were being killed. */
export const KILL_ROUNDS_MAX = 20;

/** Files in memory count as memory: all together must leave room for the agent, or filling one would end it. */
export const TMPFS_SHARE_MAX = 0.25;
/** Writable file systems in memory; without a bound each could take half of the host's. */
export const TMPFS_BYTES_MAX: Readonly<Record<'/tmp' | '/run' | '/home' | '/dev/shm', number>> = {
  '/tmp': 2 * 1024 ** 3,
  '/run': 16 * 1024 ** 2,
  '/home': 1024 ** 3,
  '/dev/shm': 1024 ** 3,
};
