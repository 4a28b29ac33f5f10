/**
 * Every bound that only the Docker runtime has, with its reason.
 * Owns constants only.
 */

/** A daemon that is silent for longer than this, a stop with its grace included, is not called any further. */
export const CALL_TIMEOUT_MS = 60_000;
/** Time between the request to end and the kill, in the daemon's unit. */
export const STOP_GRACE_S = 5;
/** Polls of a removal that another process began; each waits a moment. */
export const REMOVAL_POLLS_MAX = 200;
/** Lines of a container's log that are read for its last words. */
export const LOG_TAIL_LINES = 40;
/** The daemon turns the log over at this size and keeps one older file. */
export const LOG_FILE_SIZE = '5m';
export const LOG_FILES = '2';
/** Shared memory of a container; browsers and databases take some. */
export const SHARED_MEMORY_BYTES_MAX = 64 * 1024 ** 2;
