/**
 * A process that stands still for a while, as on a machine that is suspended or a container that is frozen, in the middle
 * of a workflow's activation: it goes on where it was.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { endProcess } from '../helpers/end-process.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import type { longActivation } from './support/long-activation.ts';
import type { SuspendedRequest } from './support/suspended-worker.ts';
import { buildProgram } from './support/worker-fleet.ts';

/** By default the SDK cuts off an activation of five seconds. */
const SUSPENDED_MS = 6_000;
/** It begins within that, and lasts longer. */
const BEGUN_MS = 400;

describeWith('temporal', 'a worker', () => {
  it('goes on after it stood still in the middle of an activation', async () => {
    const server = await startServerForTests();
    onTestFinished(() => server.stop());
    const bundlePath = path.join(tempDir(), 'bundle.js');
    const workflowsPath = path.join(import.meta.dirname, 'support', 'long-activation.ts');
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    writeFileSync(bundlePath, code);
    const request: SuspendedRequest = { address: server.address, queue: 'suspended', bundlePath };
    const program = buildProgram('runSuspendedWorker', 'suspended-worker.ts');
    const child = spawn(process.execPath, [program, JSON.stringify(request)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => endProcess(child));
    const exit = once(child, 'exit');
    await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exit]);
    expect(child.exitCode).toBeNull();
    const connection = await Connection.connect({ address: server.address });
    onTestFinished(() => connection.close());
    const options = { taskQueue: request.queue, workflowId: 'long', workflowTaskTimeout: '5m' } as const;
    const handle = await new Client({ connection }).workflow.start<typeof longActivation>(
      'longActivation',
      options,
    );
    await pause(BEGUN_MS);
    child.kill('SIGSTOP');
    await pause(SUSPENDED_MS);
    child.kill('SIGCONT');
    expect(await Promise.race([handle.result(), exit])).toBe(400_000_000);
    const { events } = await handle.fetchHistory();
    const failures = (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes);
    expect(failures).toEqual([]);
  });
});
