/**
 * Bounds of reading what a gateway sends.
 * Owns the numbers and their reasons.
 */

/** Of one export: about a million rows; a text in memory cannot be much longer. */
export const EXPORT_BYTES_MAX = 400 * 1024 * 1024;

/** A file that is longer is read on a thread of its own; a shorter one is read before a thread has begun. */
export const THREAD_BYTES_MIN = 16 * 1024 * 1024;

/** All header lines of a gateway's reply: balancers and content policies make them longer than Node's 16 KiB. */
export const REPLY_HEADER_BYTES_MAX = 256 * 1024;
/** An interim reply that is longer is no such thing. */
export const INTERIM_REPLY_BYTES_MAX = 16 * 1024;
