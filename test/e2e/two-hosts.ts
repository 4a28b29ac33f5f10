/**
 * Two workers with data directories of their own over one Temporal server, one database and one bucket, as on two machines.
 * Owns what a user would set for each; the tests say what is run and what is ended.
 */
import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Caller } from '../../bench/cluster/caller.ts';
import { freePort } from '../../loopback/free-port.ts';
import { startPostgres } from '../../scripts/postgres-server.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { startS3Server, type S3Server } from '../../scripts/s3-server-process.ts';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { namesIn } from './folder.ts';
import { startProgram, type RunningProgram } from './running-program.ts';
import { startScriptedGateway } from './scripted-gateway.ts';

export const HOSTS = ['alpha', 'beta'] as const;
export type HostName = (typeof HOSTS)[number];

/** For items that ask for slow.md: each takes as long as a worker takes to start. */
export const SLOW_SCRIPT = `
  - name: slow
    when: { contains: 'into slow.md' }
    turns:
      - say: I take my time.
        tool: terminal
        arguments: { command: sleep 8; echo done > slow.md }
        usage: { prompt: 300, completion: 20 }
      - tool: finish
        arguments: { message: slow.md has the text. }
        usage: { prompt: 400, completion: 10 }
`;

const API_KEY = `pa-${'7'.repeat(64)}`;
const SEAL_KEY = Buffer.alloc(32, 7).toString('base64');

export interface TwoHosts {
  /** Of the service, with every right. */
  readonly apiKey: string;
  readonly copy: BatchCopy;
  readonly temporal: DevServer;
  /** `as`: whose data directory the program has; `root`: where the program lies, when it is another build. */
  start(
    as: HostName,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    root?: string,
  ): RunningProgram;
  /** A worker that serves. */
  startWorker(as: HostName, root?: string): Promise<RunningProgram>;
  /** An API without a worker on a third machine, as the holder of the first key calls it. */
  serve(): Promise<{ readonly program: RunningProgram; readonly url: string; readonly caller: Caller }>;
  /** Names of the folders of sandboxes on the disk of a host. */
  sandboxesOn(host: HostName): readonly string[];
  /** Files of this name in the sandboxes of a host, with their path. */
  filesNamed(host: HostName, name: string): readonly string[];
  close(): Promise<void>;
}

/** `env` is what all programs get; `script` is more for the made-up model to say. */
export async function openTwoHosts(
  env: Readonly<Record<string, string>> = {},
  { script = '' }: { readonly script?: string } = {},
): Promise<TwoHosts> {
  const [temporal, postgres, s3] = await Promise.all([
    startServerForTests(),
    startPostgres(),
    startS3Server(),
  ]);
  const copy = copyBatch('none', 'three-hundred');
  withBucket(copy, s3);
  appendFileSync(path.join(copy.example, 'gateway.yaml'), script);
  mkdirSync(copy.dataDir, { recursive: true });
  const gateway = await startScriptedGateway(copy, 'sk-two-hosts');
  const url = await postgres.createDatabase('two_hosts');
  const { accessKeyId = '', secretAccessKey = '' } = s3.settings.credentials ?? {};
  const relay = `127.0.0.1:${await freePort()}`;
  const dataDirOf = (host: HostName | 'gamma'): string => path.join(copy.root, host, 'data');
  const shared = {
    ...gateway.env,
    ...{ TEMPORAL_ADDRESS: temporal.address, PARLEY_ENGINE: 'temporal' },
    ...{ PARLEY_STORE: 'postgres', PARLEY_DATABASE_URL: url, PARLEY_SEAL_KEY: SEAL_KEY },
    ...{ TEST_S3_ID: accessKeyId, TEST_S3_SECRET: secretAccessKey },
    ...env,
  };
  const start = (
    as: HostName | 'gamma',
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
    root = copy.root,
  ): RunningProgram =>
    startProgram({ ...copy, root }, 'bin/parley.js', args, {
      ...shared,
      ...{ PARLEY_HOST_NAME: as, PARLEY_DATA_DIR: dataDirOf(as) },
      ...{ PARLEY_RESULTS_DIR: path.join(copy.root, as, 'out') },
      ...more,
    });
  return {
    apiKey: API_KEY,
    copy,
    temporal,
    start,
    async startWorker(as, root) {
      // Of one host agents are reached from others, of the other they are not.
      const worker = start(as, ['worker'], as === 'beta' ? { PARLEY_HOST_RELAY: relay } : {}, root);
      if (await worker.says(/Ctrl-C ends it/)) return worker;
      throw new Error(`the worker ended: ${(await worker.ended).stderr}`);
    },
    async serve() {
      const args = ['serve', '--no-worker', '--port', '0', '--json'];
      const program = start('gamma', args, { PARLEY_FIRST_API_KEY: API_KEY });
      const url = await program.line(/"url": ?"([^"]+)"/);
      return { program, url, caller: new Caller([url], { token: API_KEY }) };
    },
    sandboxesOn: (host) => namesIn(path.join(dataDirOf(host), 'sandboxes')),
    filesNamed(host, name) {
      const folder = path.join(dataDirOf(host), 'sandboxes');
      const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      return all.filter((file) => path.basename(file) === name).map((file) => path.join(folder, file));
    },
    async close() {
      await gateway.stop();
      copy.close();
      await temporal.stop();
      await postgres.close();
      await s3.stop();
    },
  };
}

function withBucket({ example }: BatchCopy, { settings }: S3Server): void {
  const file = path.join(example, 'parley.yaml');
  const { bucket, endpoint, prefix } = settings;
  const keys = 'access_key_id: os.environ/TEST_S3_ID, secret_access_key: os.environ/TEST_S3_SECRET';
  const blobs = `{ s3: { bucket: ${bucket}, endpoint: '${endpoint ?? ''}', prefix: ${prefix}, ${keys} } }`;
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('store: { path: .parley }', `store: { path: .parley, blobs: ${blobs} }`));
}
