/** Types of python-peers.js, for the tests that use what it installs. */
import type { Environment, Installed } from './tool-cache.js';

export type PeerName = 'litellm' | 'schemathesis' | 'openhands';

/** Every peer by name. */
export const peerNames: readonly PeerName[];

/** The interpreter of a peer's environment. */
export function peerPython(name: PeerName, env: Environment): string;

/** Null when the peer is installed as its list says, else the sentence that says what is missing. */
export function peerMissing(name: PeerName, env: Environment): string | null;

/** Installs what is missing; resolves with one line for each peer that says how it went. */
export function installPythonPeers(env: Environment): Promise<readonly Installed[]>;
