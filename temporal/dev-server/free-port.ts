/**
 * TCP ports of loopback: one that is free, and whether a given one is.
 * Owns the asking; a port can be taken between the answer and its use, which whoever uses it must notice.
 */
import net from 'node:net';

const LOOPBACK = '127.0.0.1';

export function freePort(): Promise<number> {
  return listenOnce(0);
}

export async function isPortFree(port: number): Promise<boolean> {
  return await listenOnce(port).then(
    () => true,
    () => false,
  );
}

/** Resolves with the port once it was listened on and closed again. */
function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(port, LOOPBACK, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(taken));
    });
  });
}
