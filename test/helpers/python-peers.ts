/**
 * The Python programs that tests talk to for real.
 * Owns the words for one that is missing; a group that needs one is gated by requires.ts.
 */
import { peerMissing, peerPython, type PeerName } from '../../scripts/python-peers.js';

const HOW = 'install it with "node scripts/python-peers.js"';

/** Why a peer is not there, as a sentence; null when it is. Nothing is installed. */
export function pythonPeerMissing(name: PeerName): string | null {
  const reason = peerMissing(name, process.env);
  return reason === null ? null : `${reason}; ${HOW}`;
}

/** The interpreter that has the peer's packages. */
export function requirePeerPython(name: PeerName): string {
  const reason = pythonPeerMissing(name);
  if (reason !== null) throw new Error(`Cannot start the peer: ${reason}`);
  return peerPython(name, process.env);
}
