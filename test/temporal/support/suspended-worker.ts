/** The workers of one process, to be suspended while a workflow is in an activation. Built for a process of its own. */
import { writeSync } from 'node:fs';
import { NativeConnection } from '@temporalio/worker';
import type { CarrierActivities } from '../../../workflows/carrier.ts';
import { startWorkers } from '../../../temporal/worker.ts';
import { installQuietRuntime } from './quiet-runtime.ts';

export interface SuspendedRequest {
  readonly address: string;
  readonly queue: string;
  readonly bundlePath: string;
}

export async function runSuspendedWorker({ address, queue, bundlePath }: SuspendedRequest): Promise<void> {
  installQuietRuntime();
  const connection = await NativeConnection.connect({ address });
  const activities = { none: () => Promise.resolve() } as unknown as CarrierActivities;
  const workers = await startWorkers({ connection, namespace: 'default', queue, bundlePath, activities });
  writeSync(1, 'up\n');
  await workers.ended;
}
