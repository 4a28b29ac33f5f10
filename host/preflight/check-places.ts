/**
 * What a deployment needs around it to begin: folders and a bucket that take files, ports that are free.
 * Owns which; each try is in a file of its own.
 */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { type Finding, failed, passed } from '../finding.ts';
import { placesOf } from '../sandboxes/places.ts';
import { checkBucket } from './check-bucket.ts';

export async function checkPlaces(config: DeploymentConfig): Promise<readonly Finding[]> {
  return [
    checkFolder('data directory', config.dataDir),
    checkFolder('results', config.resultsDir),
    ...(config.bucket === null ? [] : [await checkBucket(config.bucket)]),
    ...(await checkPorts(config, placesOf(config.dataDir).controlSocket)),
  ];
}

/** A full disk still makes empty files. */
const TRIED_BYTES = 4_096;

const REMEDY = 'change its owner, or name another path in parley.yaml';

/** The nearest folder that exists must take a file: the rest is made when it is needed. */
function checkFolder(check: string, folder: string): Finding {
  let existing = folder;
  while (!existsSync(existing) && path.dirname(existing) !== existing) existing = path.dirname(existing);
  if (!statSync(existing).isDirectory())
    return failed(check, `"${existing}" is no folder`, 'name another path in parley.yaml');
  let tried: string | null = null;
  try {
    tried = mkdtempSync(path.join(existing, '.parley-try-'));
    writeFileSync(path.join(tried, 'try'), Buffer.alloc(TRIED_BYTES));
    return passed(check, folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT')
      return failed(
        check,
        `"${existing}" has no space left`,
        'make room, or name another path in parley.yaml',
      );
    const why = code === 'EROFS' ? ': it is on a disk that can only be read' : '';
    return failed(check, `"${existing}" cannot be written${why}`, REMEDY);
  } finally {
    if (tried !== null) rmSync(tried, { recursive: true, force: true });
  }
}

const CHECK = 'port';

interface PortToOpen {
  readonly name: string;
  /** How it is set. */
  readonly key: string;
  readonly host: string;
  readonly port: number;
}

/** `controlSocket` is where an engine of this deployment listens, when one runs. */
async function checkPorts(config: DeploymentConfig, controlSocket: string): Promise<readonly Finding[]> {
  const wishes = portsToOpen(config);
  if (wishes.length === 0 || (await answers(controlSocket))) return [];
  return await Promise.all(wishes.map(checkPort));
}

function portsToOpen({ proxyPort, engine }: DeploymentConfig): readonly PortToOpen[] {
  const { metrics } = engine.temporal;
  return [
    ...(proxyPort === null
      ? []
      : [{ name: 'proxy port', key: 'proxy.port', host: '127.0.0.1', port: proxyPort }]),
    ...(metrics === null || engine.kind !== 'temporal'
      ? []
      : [{ name: 'metrics port', key: 'engine.metrics', ...metrics }]),
  ];
}

async function checkPort({ name, key, host, port }: PortToOpen): Promise<Finding> {
  const reason = await new Promise<string | null>((resolve) => {
    const server = net.createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'));
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
  const detail = `${name} ${port}`;
  switch (reason) {
    case null:
      return passed(CHECK, `${detail} is free`);
    case 'EACCES':
      return failed(CHECK, `${detail} is not for this user`, `choose a ${key} above 1023`);
    case 'EADDRNOTAVAIL':
      return failed(CHECK, `${detail}: this machine has no address ${host}`, `correct ${key}`);
    default:
      return failed(CHECK, `${detail} is taken`, `choose another ${key}, or stop the engine that has it`);
  }
}

async function answers(socketPath: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = net.connect(socketPath);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
