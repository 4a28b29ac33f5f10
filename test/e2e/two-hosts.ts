/**
 * Two workers with data directories of their own over one Temporal server, one database and one bucket, as on two machines.
 * Owns what a user would set for each; the tests say what is run and what is ended.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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

const SEAL_KEY = Buffer.alloc(32, 7).toString('base64');

export interface TwoHosts {
  readonly copy: BatchCopy;
  readonly temporal: DevServer;
  /** `as`: whose data directory the program has. */
  start(as: HostName, args: readonly string[], env?: Readonly<Record<string, string>>): RunningProgram;
  /** A worker that serves. */
  startWorker(as: HostName): Promise<RunningProgram>;
  /** Names of the folders of sandboxes on the disk of a host. */
  sandboxesOn(host: HostName): readonly string[];
  close(): Promise<void>;
}

/** `env` is what all programs get. */
export async function openTwoHosts(env: Readonly<Record<string, string>> = {}): Promise<TwoHosts> {
  const [temporal, postgres, s3] = await Promise.all([
    startServerForTests(),
    startPostgres(),
    startS3Server(),
  ]);
  const copy = copyBatch('none', 'three-hundred');
  withBucket(copy, s3);
  mkdirSync(copy.dataDir, { recursive: true });
  const gateway = await startScriptedGateway(copy, 'sk-two-hosts');
  const url = await postgres.createDatabase('two_hosts');
  const { accessKeyId = '', secretAccessKey = '' } = s3.settings.credentials ?? {};
  const dataDirOf = (host: HostName): string => path.join(copy.root, host, 'data');
  const shared = {
    ...gateway.env,
    ...{ TEMPORAL_ADDRESS: temporal.address, PARLEY_ENGINE: 'temporal' },
    ...{ PARLEY_STORE: 'postgres', PARLEY_DATABASE_URL: url, PARLEY_SEAL_KEY: SEAL_KEY },
    ...{ TEST_S3_ID: accessKeyId, TEST_S3_SECRET: secretAccessKey },
    ...env,
  };
  const start: TwoHosts['start'] = (as, args, more = {}) =>
    startProgram(copy, 'bin/parley.js', args, {
      ...shared,
      ...{ PARLEY_HOST_NAME: as, PARLEY_DATA_DIR: dataDirOf(as) },
      ...{ PARLEY_RESULTS_DIR: path.join(copy.root, as, 'out') },
      ...more,
    });
  return {
    copy,
    temporal,
    start,
    async startWorker(as) {
      const worker = start(as, ['worker']);
      if (await worker.says(/Ctrl-C ends it/)) return worker;
      throw new Error(`the worker ended: ${(await worker.ended).stderr}`);
    },
    sandboxesOn: (host) => namesIn(path.join(dataDirOf(host), 'sandboxes')),
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
