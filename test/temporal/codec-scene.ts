/**
 * A worker and a client that share one data converter, for tests of what a server gets to see.
 * Owns both and how a history is read raw; must not assert.
 */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { Client, type Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { build } from 'esbuild';
import type { CodecKeys } from '../../temporal/codec/codec-keys.ts';
import { dataConverterOf } from '../../temporal/codec/data-converter.ts';
import type { TellerActivities } from './codec-workflow.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const SOURCE = path.join(ROOT, 'workflows', 'failure-converter.ts');

// Once in a process: the failures of these workflows are meant, and not worth a log.
Runtime.install({ logger: new DefaultLogger('ERROR') });

/** The failure converter as the build makes it, in `folder`; packages are found as from the repository. */
export async function buildFailureConverter(folder: string): Promise<string> {
  const outfile = path.join(folder, 'failure-converter.cjs');
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  await build({
    entryPoints: [SOURCE],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}

export function bundleTeller(failureConverterPath: string = SOURCE): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: path.join(import.meta.dirname, 'codec-workflow.ts'),
    failureConverterPath,
    logger: new DefaultLogger('ERROR'),
  });
}

export interface Scene {
  /** Of the same server as the connection: a worker needs one of its own kind. */
  readonly address: string;
  readonly keys: CodecKeys | null;
  readonly failureConverterPath: string;
  readonly bundle: WorkflowBundleWithSourceMap;
  readonly taskQueue: string;
}

/** Runs `play` with a client while a worker of the same data converter works. */
export async function playScene(
  server: Connection,
  scene: Scene,
  play: (client: Client) => Promise<void>,
): Promise<void> {
  const dataConverter = dataConverterOf(scene);
  const activities: TellerActivities = {
    echo: async (told) => told,
    refuse: async (told) => {
      const cause = new Error(`because of ${told.text}`);
      throw new Error(`cannot use ${told.text}`, { cause });
    },
  };
  const connection = await NativeConnection.connect({ address: scene.address });
  const worker = await Worker.create({
    connection,
    workflowBundle: scene.bundle,
    taskQueue: scene.taskQueue,
    activities,
    dataConverter,
  });
  const client = new Client({ connection: server, dataConverter });
  try {
    await worker.runUntil(play(client));
  } finally {
    await connection.close();
  }
}

/** Every event of one run as the server has it: read below the SDK's client, so that nothing is decoded. */
export async function rawHistory(
  connection: Connection,
  execution: { readonly workflowId: string; readonly runId: string },
): Promise<readonly object[]> {
  const events: object[] = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await connection.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution,
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    });
    events.push(...(page.history?.events ?? []));
    nextPageToken = page.nextPageToken ?? undefined;
  } while (nextPageToken !== undefined && nextPageToken.length > 0);
  return events;
}
