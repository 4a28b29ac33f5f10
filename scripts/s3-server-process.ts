/**
 * A real server of S3's protocol over a folder of its own, for tests and benches: the program that `node scripts/s3-server.js`
 * installs, or its image where a Docker daemon can be had and the program is missing.
 * Owns its process and its end.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../loopback/free-port.ts';
import type { S3Settings } from '../store/blobs/s3-settings.ts';
import { makeS3Image } from './machine-images.ts';
import { ServerProcess, type PeerServer } from './own-process.ts';
import { startPeer } from './peer-container.ts';
import { installedS3Server } from './s3-server.js';

/** A running server of S3's protocol with one bucket. */
export interface S3Server {
  /** Of its bucket. */
  readonly settings: S3Settings;
  /** Files of the bucket lie here. */
  readonly folder: string;
  /** As a server that dies. */
  kill(): Promise<void>;
  /** On the same port and folder. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const ACCESS_KEY = 'parley-test';
const SECRET_KEY = 'parley-test-secret';
const READY_MS_MAX = 60_000;
const S3_IMAGE = 'versity/versitygw:v1.8.0';

type Place = 'process' | 'container';

/** `place` absent: a process where the program is, else a container. */
export async function startS3Server(place?: Place): Promise<S3Server> {
  const program = installedS3Server(process.env);
  const own = mkdtempSync(path.join(os.tmpdir(), 'parley-s3-'));
  // A folder of its root is a bucket.
  const [root, facts] = [path.join(own, 'root'), path.join(own, 'facts')];
  const folder = path.join(root, 'parley');
  for (const one of [folder, facts]) mkdirSync(one, { recursive: true });
  const isProcess = program !== null && place !== 'container';
  const running = isProcess
    ? await startProcess(own, program, { root, facts })
    : await startContainer({ root, facts });
  const endpoint = `http://127.0.0.1:${running.port}`;
  await ready(endpoint, running);
  return {
    settings: {
      ...{ bucket: 'parley', endpoint, region: 'us-east-1', prefix: 'an/installation', isPathStyle: true },
      ...{ encryption: null, kmsKeyId: null },
      credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
    },
    folder,
    async start() {
      await running.start();
      await ready(endpoint, running);
    },
    kill: () => running.end('SIGKILL'),
    async stop() {
      await running.end('SIGTERM');
      rmSync(own, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

interface Folders {
  readonly root: string;
  readonly facts: string;
}

const argumentsOf = (address: string, { root, facts }: Folders): readonly string[] => [
  ...['--port', address, '--quiet', 'posix', '--sidecar', facts, root],
];
const KEYS = { ROOT_ACCESS_KEY: ACCESS_KEY, ROOT_SECRET_KEY: SECRET_KEY };

async function startProcess(own: string, program: string, folders: Folders): Promise<PeerServer> {
  const port = await freePort();
  const command = [program, ...argumentsOf(`127.0.0.1:${port}`, folders)];
  const env = { PATH: process.env['PATH'], ...KEYS };
  const server = new ServerProcess({ port, folder: own, command, options: { env } });
  await server.start();
  return server;
}

async function startContainer(folders: Folders): Promise<PeerServer> {
  return await startPeer({
    image: S3_IMAGE,
    make: (command) => makeS3Image(command, S3_IMAGE, installedS3Server(process.env) ?? ''),
    environment: KEYS,
    // The same paths inside: a test reads the files.
    folders: Object.fromEntries(Object.values(folders).map((folder) => [folder, folder])),
    user: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    command: ({ host, port }) => argumentsOf(`${host}:${port}`, folders),
  });
}

async function ready(endpoint: string, running: PeerServer): Promise<void> {
  const until = Date.now() + READY_MS_MAX;
  while (!(await answers(endpoint))) {
    if (Date.now() > until || !(await running.isRunning()))
      throw new Error('the server of S3 does not answer');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function answers(endpoint: string): Promise<boolean> {
  return await fetch(endpoint).then(
    async (answer) => {
      await answer.arrayBuffer();
      return true;
    },
    () => false,
  );
}
