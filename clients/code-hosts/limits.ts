/**
 * Every bound of the Git relay, with its reason.
 * Owns constants only.
 */

/** Requests served at once: packing is work for a processor, and each local one is a process. */
export const SERVED_MAX = 16;
/** Of them by one sandbox: half, so that a sandbox that clones without end leaves room for a neighbour. */
export const SERVED_PER_CALLER_MAX = 8;
/** Requests that wait for their turn; more get 503 with `Retry-After`. */
export const WAITING_MAX = 256;
export const RETRY_AFTER_S = 5;
/** One request from first to last byte; a clone that takes longer should be shallow. */
export const REQUEST_TIMEOUT_MS = 30 * 60_000;
/** A caller that takes less than this in that time blocks its place for others, and loses it. */
export const PROGRESS_BYTES_MIN = 64 * 1024;
export const PROGRESS_MS = 60_000;
/** An upstream that is silent for this long is gone. */
export const UPSTREAM_SILENCE_MS = 120_000;
/** Redirects followed, on the same host only. */
export const REDIRECTS_MAX = 3;
/** Of one request of Git LFS; its client requests a hundred at a time. */
export const LFS_OBJECTS_MAX = 1_000;
export const LFS_BATCH_BYTES_MAX = 1024 * 1024;
/** What a code host answers to it: an address and a credential for each object. */
export const LFS_ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** Headers of `git http-backend`; it writes some hundred bytes. */
export const CGI_HEADER_BYTES_MAX = 16 * 1024;
/** What a failing backend said, kept for the operator. */
export const STDERR_CHARS_MAX = 2_000;

/** Open connections of all sandboxes together; of those that are served or wait there are far fewer. */
export const CONNECTIONS_MAX = 1_024;
/** Of one sandbox. */
export const CONNECTIONS_PER_CALLER_MAX = 128;
