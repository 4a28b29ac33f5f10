/**
 * What the hostile sandbox may be told to do, and by which files.
 * Owns the names that both sides of its wall use; must not do anything.
 */
export const ATTACKS = [
  'bodies before the key',
  'open connections',
  'pages without end',
  'an answer without end',
  'a huge transcript',
  'events by callback',
  'model calls in flight',
  'places of the Git relay',
  'inotify instances',
  'empty files',
  'unlinked open files',
  'files beside the socket',
  'shared memory',
  'sparse files',
  'paths that are too long',
  'refusals without end',
] as const;
export type Attack = (typeof ATTACKS)[number];

export interface Order {
  readonly attack: Attack;
  /** How long it goes on, where it does not end by itself. */
  readonly ms: number;
}

/** Relative to the workspace: orders, `did` with what came of the last, and `ready`. */
export const ORDERS = '.orders';
/** Absolute, inside: while it is there the Agent Server says what it names. */
export const LIE_FILE = '/workspace/.lie';
