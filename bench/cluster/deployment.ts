/**
 * The input of every program of the cluster: one file, one environment, and the script of the stand-in for a vendor.
 * Owns these texts; the caller decides where services listen.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { S3Settings } from '../../store/blobs/s3-settings.ts';

/** Two books: calls of agents use another key of the vendor than direct calls of clients to the proxies. */
export const VENDOR_KEYS = { agents: 'sk-cluster-agents', clients: 'sk-cluster-clients' } as const;
export type Book = keyof typeof VENDOR_KEYS;

export const API_KEY = `pa-${'c1'.repeat(24)}`;
export const MASTER_KEY = 'sk-cluster-master';
const SEAL_KEY = Buffer.alloc(32, 9).toString('base64');
/** Each call has 100 tokens in and 50 out: a cent. */
const USAGE = { prompt: 100, completion: 50 };
/** Turns that a script holds; a conversation needs two for each message. */
const TURNS = 200;
/** Beginning of the message to an agent that must confirm its action, and of a call that no agent makes. */
export const RISKY = 'Clean up';
export const DIRECT = 'Answer me directly';
/** Seconds: longer than any stop or start of the plan, and short enough to wait for. */
const LOSS = { lease: 15, lost_after: 45 } as const;
/** Seconds without activity after which a sandbox is paused. */
const IDLE_S = 15;
/** Occurs in the prompts of the run's items. */
export const WRITTEN = 'into text.md';

export interface Addresses {
  readonly temporal: string;
  readonly database: string;
  readonly gateway: string;
  readonly bucket: S3Settings;
}

export interface Capacity {
  /** Sandboxes of a host, and of all of them together. */
  readonly host: number;
  readonly all: number;
  readonly isolation: 'auto' | 'none';
}

/** Writes it below `root`, and returns where it is. */
export function writeDeployment(root: string, { gateway, bucket }: Addresses, capacity: Capacity): string {
  const file = path.join(root, 'parley.yaml');
  const { bucket: name, endpoint, prefix } = bucket;
  const keys = { access_key_id: 'os.environ/BUCKET_ID', secret_access_key: 'os.environ/BUCKET_SECRET' };
  const price = { input_cost_per_token: '0.00005', output_cost_per_token: '0.0001' };
  const entry = {
    ...{ model: 'openai/vendor/small', api_base: `${gateway}/v1`, api_key: 'os.environ/VENDOR_KEY' },
    ...{ ...price, max_output_tokens: 100 },
  };
  const configuration = {
    // The address of Temporal is in the environment.
    engine: { kind: 'temporal' },
    store: {
      ...{ kind: 'postgres', url: 'os.environ/PARLEY_DATABASE_URL', path: 'data' },
      blobs: { s3: { bucket: name, endpoint, prefix, ...keys } },
    },
    runtime: { kind: 'process', isolation: capacity.isolation },
    // There are more conversations than slots: an idle sandbox frees its slot for those that wait.
    limits: { idle_time: IDLE_S },
    capacity: { sandboxes: capacity.all, sandboxes_per_user: capacity.all, on_full: 'queue' },
    host: { capacity: capacity.host, ...LOSS },
    proxy_config: {
      model_list: [{ model_name: 'default', proxyvendor_params: entry }],
      // A machine that is lost must not lose the row of a billed call.
      general_settings: { commit_before_dispatch: true },
    },
    gateway: { export: { url: `${gateway}/spend/export`, key: 'os.environ/VENDOR_KEY', format: 'jsonl' } },
  };
  writeFileSync(file, JSON.stringify(configuration, null, 2));
  return file;
}

/** Its answers: work for each message, an action that needs a confirmation, and text alone. */
export function writeVendor(root: string): string {
  const file = path.join(root, 'vendor.yaml');
  const work = (command: string): object => ({
    tool: 'terminal',
    arguments: { command, security_risk: 'LOW' },
    usage: USAGE,
  });
  const said = { say: 'It is done.', usage: USAGE };
  const turns = Array.from({ length: TURNS / 2 }, () => [work('date >> work.txt; sleep 0.2'), said]).flat();
  const risky = {
    ...{ tool: 'terminal', usage: USAGE },
    arguments: { command: 'echo once >> done.txt', security_risk: 'HIGH', summary: 'Remove what is left' },
  };
  const finish = { tool: 'finish', arguments: { message: 'text.md has the text.' }, usage: USAGE };
  const script = {
    ...{ kind: 'gateway-script', version: 1, latency_ms: 20 },
    keys: Object.entries(VENDOR_KEYS).map(([name, key]) => ({ key, name })),
    models: { 'vendor/small': { input: '50', output: '100' } },
    scripts: [
      { name: 'direct', when: { contains: DIRECT }, turns: [], finally: said },
      { name: 'written', when: { contains: WRITTEN }, turns: [work('echo Here it is. > text.md'), finish] },
      { name: 'risky', when: { contains: RISKY }, turns: [risky, said, ...turns] },
      { name: 'work', turns },
    ],
  };
  writeFileSync(file, JSON.stringify(script));
  return file;
}

export interface Place {
  /** Data directory, results and temporary files are below. */
  readonly disk: string;
  readonly hostName: string;
}

export function environmentOf(
  { temporal, database, bucket }: Addresses,
  book: Book,
  { disk, hostName }: Place,
): Readonly<Record<string, string>> {
  const { accessKeyId = '', secretAccessKey = '' } = bucket.credentials ?? {};
  return {
    ...{ PATH: process.env['PATH'] ?? '', HOME: path.join(disk, 'home'), TMPDIR: path.join(disk, 't') },
    ...{
      NO_COLOR: '1',
      PARLEY_DATA_DIR: path.join(disk, 'data'),
      PARLEY_RESULTS_DIR: path.join(disk, 'out'),
    },
    ...{ PARLEY_HOST_NAME: hostName, PARLEY_SEAL_KEY: SEAL_KEY, PARLEY_FIRST_API_KEY: API_KEY },
    ...{ PROXY_MASTER_KEY: MASTER_KEY, VENDOR_KEY: VENDOR_KEYS[book] },
    ...{ TEMPORAL_ADDRESS: temporal, PARLEY_DATABASE_URL: database },
    ...{ BUCKET_ID: accessKeyId, BUCKET_SECRET: secretAccessKey },
  };
}
