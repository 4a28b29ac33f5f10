/**
 * Connecting to a unix socket that a sandbox may replace at any moment.
 * Owns making sure that what is connected to is a socket in its own directory: a symbolic link there would lead to any
 * socket of the host, with our session key. Must not speak a protocol.
 */
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

/** Linux: opens the place without opening what is there; missing in Node.js's own constants. */
const O_PATH = 0o10000000;
const HAS_FD_PATHS = process.platform === 'linux';

/** @throws Error there is no socket, it is a link or something else, or no process listens */
export async function connectGuarded(path: string): Promise<Socket> {
  return HAS_FD_PATHS ? await connectByDescriptor(path) : await connectByName(path);
}

/** What was checked is what is connected to, whatever happens to the name in between. */
async function connectByDescriptor(path: string): Promise<Socket> {
  const place = await open(path, O_PATH | constants.O_NOFOLLOW);
  try {
    if (!(await place.stat()).isSocket()) throw new Error(`"${path}" is no socket`);
    return await connected(`/proc/self/fd/${place.fd}`);
  } finally {
    await place.close();
  }
}

/** Where descriptors have no names a moment stays between check and connect. */
async function connectByName(path: string): Promise<Socket> {
  if (!(await lstat(path)).isSocket()) throw new Error(`"${path}" is no socket`);
  return await connected(path);
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    // For good: a peer may break it before the caller listens.
    socket.on('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}
