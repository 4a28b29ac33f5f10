/**
 * The third-party services of the cluster: PostgreSQL, a Temporal server with a file, and a server of S3.
 * Owns their starts and ends, which may be without warning; a start waits until the service answers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { trySignal } from '../../scripts/own-process.ts';
import { startS3Server, type S3Server } from '../../scripts/s3-server-process.ts';
import { startDevServer, type DevServer } from '../../temporal/dev-server/start-dev-server.ts';

export interface Services {
  readonly postgres: PostgresServerProcess;
  readonly s3: S3Server;
  readonly temporal: RestartedTemporal;
  readonly database: string;
  close(): Promise<void>;
}

export const DATABASE = 'cluster';
/** All programs of three APIs, three workers and two proxies, and the judge. */
const CONNECTIONS = '200';

export async function openServices(databaseFile: string): Promise<Services> {
  const [postgres, s3, temporal] = await Promise.all([
    startPostgres({ settings: { max_connections: CONNECTIONS } }),
    startS3Server(),
    RestartedTemporal.start(databaseFile),
  ]);
  return {
    ...{ postgres, s3, temporal, database: await postgres.createDatabase(DATABASE) },
    async close() {
      await Promise.all([temporal.kill(), s3.stop(), postgres.close()]);
    },
  };
}

/** The same server again on its port and its file. */
export class RestartedTemporal {
  readonly #file: string;
  #server: DevServer;

  private constructor(file: string, server: DevServer) {
    this.#file = file;
    this.#server = server;
  }

  static async start(file: string): Promise<RestartedTemporal> {
    return new RestartedTemporal(file, await begin(file));
  }

  get address(): string {
    return this.#server.address;
  }

  async kill(): Promise<void> {
    const { pid, ended } = this.#server;
    trySignal(pid, 'SIGKILL');
    await ended;
  }

  async start(): Promise<void> {
    const port = Number(this.address.split(':')[1]);
    for (let tries = 0; ; tries += 1) {
      const server = await begin(this.#file, port).catch((error: unknown) => {
        if (tries >= STARTS_MAX) throw error;
        return null;
      });
      if (server !== null) {
        this.#server = server;
        return;
      }
      await pause(RETRY_MS);
    }
  }
}

const STARTS_MAX = 20;
const RETRY_MS = 500;

function begin(databaseFile: string, port = 0): Promise<DevServer> {
  return startDevServer({ env: process.env, namespace: 'default', databaseFile, port });
}
