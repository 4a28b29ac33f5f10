/**
 * Parley over several machines, on one: APIs without a worker, workers with a disk of their own, and proxies, over one
 * PostgreSQL, one Temporal server and one bucket, before the stand-in of a vendor.
 * Owns folders, ports, and the start and end of everything; who comes to harm and who calls is for others.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../loopback/free-port.ts';
import { removeTree } from '../../runtimes/on-host/remove-tree.ts';
import {
  environmentOf,
  VENDOR_KEYS,
  writeDeployment,
  writeVendor,
  type Addresses,
  type Book,
  type Capacity,
} from './deployment.ts';
import { recordOf } from '../service.ts';
import { machinesMissing, makeMachine, type Machine } from './machine.ts';
import { Program } from './program.ts';
import { openServices, type Services } from './services.ts';

export interface ClusterSize {
  readonly apis: number;
  readonly workers: number;
  readonly proxies: number;
  readonly capacity: Capacity;
  /** False: programs are plain processes, and no machine is set apart. */
  readonly setsApart: boolean;
}

export interface Cluster {
  readonly root: string;
  readonly logs: string;
  readonly services: Services;
  readonly machines: readonly Machine[];
  /** Why machines are not apart; null when they are. */
  readonly notApart: string | null;
  readonly apis: readonly Program[];
  readonly workers: readonly Program[];
  readonly proxies: readonly Program[];
  /** Workers whose machine is gone, and with it what it had on its disk. */
  readonly lost: readonly Program[];
  readonly apiUrls: readonly string[];
  readonly proxyUrls: readonly string[];
  /** In place of a machine that does not come back another one joins, with a name and an empty disk of its own. */
  replace(target: number): Promise<void>;
  /** A command of Parley on another machine, whose disk is empty and that has nothing but database and bucket. */
  elsewhere(args: readonly string[]): Promise<CommandEnd>;
  /** Names of files below the folder of that machine. */
  filesElsewhere(folder: string): readonly string[];
  bill(book: Book): Promise<ReadonlyMap<string, number>>;
  /** `keepsFiles`: the folder with the logs stays. */
  close(keepsFiles: boolean): Promise<void>;
}

export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PROGRAM = path.resolve('dist/parley.js');

export async function openCluster(size: ClusterSize): Promise<Cluster> {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'pc-')));
  const logs = path.join(root, 'logs');
  mkdirSync(logs);
  const notApart = size.setsApart ? machinesMissing() : 'nobody asked for it';
  const machine = (name: string): Machine => makeMachine(root, name, notApart === null);
  const [services, vendor] = await Promise.all([
    openServices(path.join(root, 'temporal.db')),
    startVendor(root),
  ]);
  const addresses: Addresses = {
    ...{ temporal: services.temporal.address, database: services.database },
    ...{ gateway: vendor.url, bucket: services.s3.settings },
  };
  const file = writeDeployment(root, addresses, size.capacity);
  const { environment, program } = programsOf({ root, logs, file, addresses });
  const machines = numbers(size.workers).map((number) => machine(`host-${number}`));
  const other = machine('elsewhere');
  makeFolders(other.diskFromHere);
  for (const one of [...machines, other]) await one.start();
  const apis = await Promise.all(numbers(size.apis).map((number) => program('api', number, null)));
  const workers = await Promise.all(machines.map((on, index) => program('worker', index + 1, on)));
  const proxies = await Promise.all(numbers(size.proxies).map((number) => program('proxy', number, null)));
  const urlOf = ({ settings }: Program): string => new URL(settings.health).origin;
  const lost: Program[] = [];
  const cluster: Cluster = {
    ...{ root, logs, services, machines, notApart, apis, workers, proxies, lost },
    ...{ apiUrls: apis.map(urlOf), proxyUrls: proxies.map(urlOf) },
    async replace(target) {
      lost.push(...workers.slice(target, target + 1));
      const number = size.workers + lost.length;
      const on = machine(`host-${number}`);
      const worker = await program('worker', number, on);
      await on.start();
      machines[target] = on;
      workers[target] = worker;
      worker.start();
    },
    elsewhere: (args) =>
      runToEnd(other.enter([process.execPath, PROGRAM, ...args, '--config', file]), {
        ...environment('agents', other.disk, 'elsewhere'),
      }),
    filesElsewhere: (folder) => filesBelow(path.join(other.diskFromHere, folder)),
    bill: (book) => billOf(vendor.url, VENDOR_KEYS[book]),
    async close(keepsFiles) {
      const programs = [...apis, ...proxies, ...workers];
      await Promise.all(programs.map((one) => one.kill()));
      await Promise.all([...machines, other].filter(({ isApart }) => isApart).map((one) => one.cutPower()));
      vendor.child.kill('SIGKILL');
      await services.close();
      if (!keepsFiles) await removeTree(root);
    },
  };
  try {
    await begin(cluster);
  } catch (error) {
    await cluster.close(true);
    throw error;
  }
  return cluster;
}

interface Around {
  readonly root: string;
  readonly logs: string;
  /** The configuration of the deployment. */
  readonly file: string;
  readonly addresses: Addresses;
}

interface Programs {
  environment(book: Book, disk: string, hostName: string): Readonly<Record<string, string>>;
  /** `on` null: where this process is. It is not started. */
  program(kind: Kind, number: number, on: Machine | null): Promise<Program>;
}

function programsOf({ root, logs, file, addresses }: Around): Programs {
  const environment: Programs['environment'] = (book, disk, hostName) =>
    environmentOf(addresses, book, { disk, hostName });
  return {
    environment,
    async program(kind, number, on) {
      const name = `${kind}-${number}`;
      const diskFromHere = on?.diskFromHere ?? path.join(root, name);
      makeFolders(diskFromHere);
      const port = String(await freePort());
      const { args, health } = KINDS[kind];
      return new Program({
        ...{ name, machine: on, log: path.join(logs, `${name}.log`) },
        health: `http://127.0.0.1:${port}${health}`,
        command: [process.execPath, PROGRAM, ...args(port), '--config', file],
        env: environment(kind === 'proxy' ? 'clients' : 'agents', on?.disk ?? diskFromHere, name),
      });
    },
  };
}

/** What the environment of a program names. */
function makeFolders(disk: string): void {
  for (const name of ['t', 'home', 'data', 'out'])
    mkdirSync(path.join(disk, name), { recursive: true, mode: 0o700 });
}

/** Empty for a folder that is not there. */
function filesBelow(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
}

/** From 1. */
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

type Kind = 'api' | 'worker' | 'proxy';

const KINDS: Readonly<Record<Kind, { readonly health: string; args(port: string): readonly string[] }>> = {
  api: { health: '/openapi.json', args: (port) => ['serve', '--no-worker', '--json', '--port', port] },
  worker: { health: '/healthz', args: (port) => ['worker', '--json', '--health-port', port] },
  proxy: { health: '/health/liveliness', args: (port) => ['proxy', '--port', port] },
};

/** The first of each kind makes what the others find: schema, namespace, first key. */
async function begin({ apis, workers, proxies }: Cluster): Promise<void> {
  for (const group of [apis, workers, proxies]) {
    const [first, ...others] = group;
    first?.start();
    await first?.isReady();
    for (const one of others) one.start();
    await Promise.all(others.map((one) => one.isReady()));
  }
}

interface Vendor {
  readonly url: string;
  readonly child: ChildProcess;
}

async function startVendor(root: string): Promise<Vendor> {
  const args = [path.resolve('dist/scripted-gateway.js'), writeVendor(root)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const { url = '' } = await recordOf(child, 'listening');
  return { child, url };
}

/** Nano-USD by id of response. */
async function billOf(url: string, key: string): Promise<ReadonlyMap<string, number>> {
  const reply = await fetch(`${url}/spend/export`, { headers: { authorization: `Bearer ${key}` } });
  const rows = (await reply.text())
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly request_id: string; readonly cost_usd: string });
  return new Map(rows.map((row) => [row.request_id, Math.round(Number(row.cost_usd) * 1e9)]));
}

async function runToEnd(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandEnd> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
