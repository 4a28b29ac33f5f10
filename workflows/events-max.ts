/**
 * How long a history grows.
 * Owns the default bound; the configuration reads it here, too.
 */

/** Events of a history before its run is continued as new; the server would suggest it at 4,096. */
export const EVENTS_MAX_DEFAULT = 2_000;
