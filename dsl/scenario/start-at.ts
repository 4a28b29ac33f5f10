/**
 * The instant at which a play begins when nothing says another.
 * Owns that instant: always the same, so that the same seed gives the same text on any day.
 */

/** Epoch milliseconds of 2026-01-01T00:00:00Z. */
export const START_AT_DEFAULT = 1_767_225_600_000;
