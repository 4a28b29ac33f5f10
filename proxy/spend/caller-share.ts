/**
 * What one caller may have of what all callers share: connections from sandboxes.
 * Owns whose a connection is, and the answer to one too many; the counting is in core/shares/connection-shares.ts.
 */
import type { Caller } from '../keys/caller.ts';
import type { Failure } from '../failure.ts';
import { crowded, type Exchange } from '../relay/http-exchange.ts';
import type { SandboxConnections } from '../listener.ts';

/** The conversation of a key, which ends with it; else the key. */
export function ownerOf({ sessionId, name }: Caller): string {
  return sessionId ?? `key ${name}`;
}

/** Null when it may go on; else why it is refused, and its connection is closed after the answer. */
export function mayStay(
  { shares }: SandboxConnections,
  { req, res }: Exchange,
  caller: Caller,
): Failure | null {
  if (shares.belongsTo(req.socket, ownerOf(caller))) return null;
  res.setHeader('connection', 'close');
  return crowded('its key has too many connections open');
}
