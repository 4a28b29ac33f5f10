/**
 * What a part stands on: a server of its own and one connection to it.
 * Owns the life of a dev server for one part; a part leaves nothing behind.
 */
import { WorkflowClient } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { installRuntime } from '../../host/engines/temporal-log.ts';
import { connectTemporal } from '../../temporal/connect.ts';
import { startDevServer } from '../../temporal/dev-server/start-dev-server.ts';
import type { Telemetry } from '../../telemetry/metrics-endpoint.ts';

export const NAMESPACE = 'default';

export interface Ground {
  readonly connection: NativeConnection;
  readonly client: WorkflowClient;
}

/** Limits per namespace are for tenants of a shared server; here they would be all that is measured. */
const UNLIMITED = {
  'frontend.namespaceRPS': 20_000,
  'frontend.rps': 20_000,
};

/**
 * Runs `use` on a fresh dev server, in memory, and ends it whatever happens.
 * `telemetry` is that of the process, which has one runtime: only the first part may have any.
 */
export async function onDevServer<Value>(
  use: (ground: Ground) => Promise<Value>,
  telemetry: Telemetry = {},
): Promise<Value> {
  installRuntime({ telemetry, onNotice: (text) => void process.stderr.write(`${text}\n`) });
  const server = await startDevServer({ env: process.env, namespace: NAMESPACE, dynamicConfig: UNLIMITED });
  try {
    const connection = await connectTemporal({ address: server.address, namespace: NAMESPACE });
    try {
      return await use({ connection, client: new WorkflowClient({ connection, namespace: NAMESPACE }) });
    } finally {
      await connection.close();
    }
  } finally {
    await server.stop();
  }
}
