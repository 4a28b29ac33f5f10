/**
 * What the hostile sandbox may be ordered to do, and by which files.
 * Owns the names that both sides of the sandbox use; must not do anything.
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

/** Relative to the workspace: orders, `did` with the result of the last, and `ready`. */
export const ORDERS = '.orders';
/** Absolute, inside: while it exists, the Agent Server gives the answer that it names. */
export const LIE_FILE = '/workspace/.lie';
