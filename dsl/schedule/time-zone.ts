/**
 * Names of time zones.
 * Owns the question whether a name is known; the list is that of the platform.
 */

/** A name of the IANA list, as in `Europe/Berlin`, or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
