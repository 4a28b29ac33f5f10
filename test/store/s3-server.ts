/**
 * A real server of S3's protocol over a folder of its own, for tests.
 * Owns its process and its end; the program is what `node scripts/s3-server.js` installs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { installedS3Server } from '../../scripts/s3-server.js';
import type { S3Settings } from '../../store/blobs/s3-settings.ts';
import { freePort } from '../../loopback/free-port.ts';
import { removeDir } from '../helpers/temp-dir.ts';

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

export async function startS3Server(): Promise<S3Server> {
  const program = installedS3Server(process.env);
  if (program === null) throw new Error('a server of S3 is not installed');
  const own = mkdtempSync(path.join(os.tmpdir(), 'parley-s3-'));
  // A folder of its root is a bucket.
  const [root, facts] = [path.join(own, 'root'), path.join(own, 'facts')];
  const folder = path.join(root, 'parley');
  for (const one of [folder, facts]) mkdirSync(one, { recursive: true });
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  let child: ReturnType<typeof spawn> | null = null;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    child = null;
    if (ending === null) return;
    const gone = once(ending, 'exit');
    ending.kill(signal);
    await gone;
  };
  const start = async (): Promise<void> => {
    child = spawn(program, ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', '--sidecar', facts, root], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], ROOT_ACCESS_KEY: ACCESS_KEY, ROOT_SECRET_KEY: SECRET_KEY },
    });
    const until = Date.now() + READY_MS_MAX;
    while (!(await answers(endpoint))) {
      if (Date.now() > until || child.exitCode !== null) throw new Error('the server of S3 does not answer');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await start();
  return {
    settings: {
      ...{ bucket: 'parley', endpoint, region: 'us-east-1', prefix: 'an/installation', isPathStyle: true },
      ...{ encryption: null, kmsKeyId: null },
      credentials: { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
    },
    folder,
    start,
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM');
      removeDir(own);
    },
  };
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
