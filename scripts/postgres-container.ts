/**
 * PostgreSQL in a container.
 * Owns its image and command line; postgres-server.ts asks it, where this machine has no programs of it.
 */
import { makePostgresImage } from './machine-images.ts';
import { startPeer } from './peer-container.ts';
import { POSTGRES_USER } from './postgres-process.ts';
import type { ServerProgram } from './postgres-process.ts';

/** The one of temporal-compose.yml. */
const POSTGRES_IMAGE = 'postgres:16.10-bookworm';

/** Whoever asks waits until it answers. */
export async function startPostgresContainer(
  password: string,
  settings: Readonly<Record<string, string>>,
): Promise<ServerProgram> {
  const peer = await startPeer({
    image: POSTGRES_IMAGE,
    make: (command) => makePostgresImage(command, POSTGRES_IMAGE),
    environment: { POSTGRES_USER, POSTGRES_PASSWORD: password, POSTGRES_INITDB_ARGS: '--locale=C' },
    command: ({ host, port }) => [
      'postgres',
      ...Object.entries({ listen_addresses: host, port: String(port), ...settings }).flatMap(
        ([name, value]) => ['-c', `${name}=${value}`],
      ),
    ],
  });
  return {
    port: peer.port,
    lastWords: async () => ((await peer.isRunning()) ? null : await peer.said()),
    start: () => peer.start(),
    end: (signal) => peer.end(signal),
    close: () => peer.close(),
  };
}
