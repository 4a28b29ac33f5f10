/**
 * Where things are on disk: the data directory, the sockets, the programs beside the bundle.
 * Owns the names; socket paths must stay short, so they live in the system's temporary folder.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Places {
  readonly dataDir: string;
  readonly database: string;
  readonly blobs: string;
  /** The folder in which each run began to keep its results. */
  readonly resultsNotes: string;
  readonly sealKeyFile: string;
  readonly spool: string;
  /** Git repositories that exist while a branch is pushed. */
  readonly branches: string;
  /** What the owner of the directory says about its engine, for other processes. */
  readonly engineNote: string;
  /** How that owner stands to its configuration, for other processes. */
  readonly configurationNote: string;
  /** Database of a Temporal server that a run starts for itself. */
  readonly temporalDatabase: string;
  /** Sockets of sandboxes; one folder each. */
  readonly sandboxSockets: string;
  readonly proxySocket: string;
  readonly webhookSocket: string;
  readonly gitSocket: string;
  readonly egressSocket: string;
  /** Authorities that sandboxes trust, where the deployment names its own. */
  readonly authorities: string;
  readonly controlSocket: string;
  /** The application API with the rights of the owner, opened for a process that requests it from the owner. */
  readonly apiSocket: string;
  /** The same of a process that only sends requests to an engine on Temporal: there may be several. */
  readonly ownApiSocket: string;
}

export function placesOf(dataDir: string): Places {
  // A unix socket's path holds 107 bytes; a hash of the data directory keeps it short and the same after a restart.
  const mark = createHash('sha256').update(dataDir).digest('hex').slice(0, 10);
  // By number: in a container a user may have no name, and reading it fails there.
  const sockets = join(tmpdir(), `parley-${process.getuid?.() ?? userInfo().uid}-${mark}`);
  return {
    dataDir,
    database: join(dataDir, 'parley.db'),
    blobs: join(dataDir, 'blobs'),
    resultsNotes: join(dataDir, 'results'),
    sealKeyFile: join(dataDir, 'seal.key'),
    spool: join(dataDir, 'spool'),
    branches: join(dataDir, 'branches'),
    engineNote: join(dataDir, 'engine.json'),
    configurationNote: join(dataDir, 'configuration.json'),
    temporalDatabase: join(dataDir, 'temporal.db'),
    sandboxSockets: join(sockets, 's'),
    authorities: join(dataDir, 'authorities.pem'),
    // Their folders are bound into every sandbox: one each, with nothing else inside.
    proxySocket: join(sockets, 'p', 'proxy.sock'),
    webhookSocket: join(sockets, 'w', 'webhook.sock'),
    gitSocket: join(sockets, 'g', 'git.sock'),
    egressSocket: join(sockets, 'e', 'egress.sock'),
    controlSocket: join(sockets, 'control.sock'),
    apiSocket: join(sockets, 'api.sock'),
    ownApiSocket: join(sockets, `api-${process.pid}.sock`),
  };
}

export type BuiltProgram =
  | 'agent-openhands.cjs'
  | 'agent-server.cjs'
  | 'export-reader.js'
  | 'failure-converter.cjs'
  | 'plan-player.js'
  | 'sandbox-init.cjs'
  | 'scripted-gateway.js'
  | 'workflows.bundle.js';

/** Where the built programs lie. */
export function programFolder(): string {
  return dirname(builtProgram('sandbox-init.cjs'));
}

/** A program that the build made beside this one. */
export function builtProgram(name: BuiltProgram): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, name)) && dirname(folder) !== folder) {
    if (existsSync(join(folder, 'dist', name))) return join(folder, 'dist', name);
    folder = dirname(folder);
  }
  return join(folder, name);
}
