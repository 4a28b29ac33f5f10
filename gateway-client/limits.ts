/**
 * Bounds of reading exports.
 * Owns the numbers and their reasons.
 */

/** Of one export: about a million rows; a text in memory cannot be much longer. */
export const EXPORT_BYTES_MAX = 400 * 1024 * 1024;
