/**
 * What activity of a sandbox is (D9), and when it has been idle for long enough (D10).
 * Owns which contacts count and which of them is the latest; the instants are kept elsewhere.
 */

/** Something that reaches a sandbox, or comes out of it. */
export type Contact =
  /** Its runtime came up. */
  | { readonly kind: 'up'; readonly generation: number }
  /** A message, an answer or `continue` was delivered to an agent. */
  | { readonly kind: 'delivery' }
  /** A client reads or writes its workspace. */
  | { readonly kind: 'workspace' }
  | { readonly kind: 'event'; readonly event: string };

const STATE_UPDATE = 'ConversationStateUpdateEvent';

/** Reads of records and events, health checks and open sockets are no contacts at all. */
export function isActivity(contact: Contact): boolean {
  switch (contact.kind) {
    // A first start is as old as its record, which counts already; a later one follows a resume request.
    case 'up':
      return contact.generation > 1;
    case 'delivery':
    case 'workspace':
      return true;
    case 'event':
      return contact.event !== STATE_UPDATE;
  }
}

/** The latest activity of a sandbox: its creation, what was recorded of it, and each agent in it. */
export function latestActivity(since: number, known: Iterable<number | null>): number {
  let last = since;
  for (const at of known) if (at !== null && at > last) last = at;
  return last;
}

/** At the limit itself it has been reached (D10); null: a sandbox is never idle. */
export function idleAt(lastActivityAt: number, idleTimeMs: number | null): number {
  return idleTimeMs === null ? Infinity : lastActivityAt + idleTimeMs;
}
