/**
 * Where the server listens. Owns the care for a unix socket file that an earlier process left behind.
 */
import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

import type { FastifyInstance } from 'fastify';

import type { ListenAddress } from '../config.ts';
import { errorCode } from './endpoint.ts';

/** Another server answers on the socket, or the path is no socket. */
export class AddressInUseError extends Error {}

/**
 * Listens and returns the address for callers: `unix:/path` or `http://host:port`.
 *
 * @throws AddressInUseError see above
 */
export async function listenOn(server: FastifyInstance, address: ListenAddress): Promise<string> {
  if (address.kind === 'tcp') return await listenTcp(server, address);
  await removeStaleSocket(address.path);
  await server.listen({ path: address.path });
  return `unix:${address.path}`;
}

async function listenTcp(
  server: FastifyInstance,
  address: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await server.listen({ host: address.host, port: address.port });
  } catch (error) {
    if (errorCode(error) !== 'EADDRINUSE') throw error;
    throw new AddressInUseError(`Cannot listen on "${address.host}:${address.port}": the port is in use`, {
      cause: error,
    });
  }
}

async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket()) throw new AddressInUseError(`Cannot listen on "${path}": it is no socket`);
  if (await answers(path))
    throw new AddressInUseError(`Cannot listen on "${path}": another server answers there`);
  await unlink(path);
}

/** Whether a process accepts connections on the socket. */
async function answers(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
