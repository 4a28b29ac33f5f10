/**
 * How long a history grows.
 * Owns the bound that holds where nobody sets another; whoever configures it reads it here, too.
 */

/** Events of a history before its run is continued as new; the server would ask for it at 4,096. */
export const EVENTS_MAX_DEFAULT = 2_000;
