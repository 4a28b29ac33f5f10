/** The schedule of a job on a real server with a real worker: made, listed, fired, paused and deleted. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Connection, WorkflowClient } from '@temporalio/client';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { openTemporalBatch, type TemporalBatch } from './temporal-batch.ts';

const ALL_MS_MAX = 600_000;
/** Fires on New Year alone: whatever runs here was triggered. */
const SCHEDULE = '\nschedule: { cron: "0 3 1 1 *", timezone: Europe/Berlin, catchup: 1h, jitter: 5m }\n';

describeWith('temporal', 'the schedule of a job', () => {
  let server: DevServer;
  let batch: TemporalBatch;
  let worker: RunningProgram;
  beforeAll(async () => {
    server = await startServerForTests();
    batch = await openTemporalBatch({ PARLEY_ENGINE: 'temporal', TEMPORAL_ADDRESS: server.address });
    appendFileSync(path.join(batch.copy.example, 'job.yaml'), SCHEDULE);
    worker = await batch.startWorker(server.address);
  }, ALL_MS_MAX);
  afterAll(async () => {
    process.kill(worker.pid, 'SIGTERM');
    await worker.ended;
    await batch.close();
    await server.stop();
  }, ALL_MS_MAX);

  const parley = (...args: readonly string[]): Promise<ProgramEnd> => batch.start(args).ended;
  const records = async (...args: readonly string[]): Promise<readonly Record<string, unknown>[]> => {
    const { code, stdout, stderr } = await parley(...args, '--json');
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const listed = async () =>
    (await records('temporal', 'schedules')).filter(({ type }) => type === 'schedule');

  it('is made once, and made anew by a repeat', { timeout: ALL_MS_MAX }, async () => {
    const first = await parley('temporal', 'schedule', 'job.yaml');
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toMatch(
      /^schedule first-batch: created, "0 3 1 1 \*" in Europe\/Berlin, overlap skip; next run \d{4}-01-01T02:0/,
    );
    const second = await parley('temporal', 'schedule', 'job.yaml');
    expect(second.stdout).toMatch(/^schedule first-batch: updated/);
    await expect
      .poll(listed, { timeout: 90_000 })
      .toMatchObject([{ name: 'first-batch', paused: false, overlap: 'skip', fired: 0 }]);
  });

  it(
    'fires when it is triggered: a run begins, finishes, and ends the firing',
    { timeout: ALL_MS_MAX },
    async () => {
      expect(await parley('temporal', 'schedule', '--trigger', 'first-batch')).toMatchObject({ code: 0 });
      const runs = async () => (await records('status')).filter(({ type }) => type === 'run');
      await expect
        .poll(runs, { timeout: 180_000, interval: 2_000 })
        .toMatchObject([{ name: 'first-batch', phase: 'finished' }]);
      const connection = await Connection.connect({ address: server.address });
      try {
        const client = new WorkflowClient({ connection });
        const firings = async () => {
          const found: string[] = [];
          for await (const { status } of client.list({ query: "WorkflowType = 'scheduledRun'" }))
            found.push(status.name);
          return found;
        };
        await expect.poll(firings, { timeout: 60_000, interval: 500 }).toEqual(['COMPLETED']);
      } finally {
        await connection.close();
      }
    },
  );

  it('is paused, and deleted, by its name', { timeout: ALL_MS_MAX }, async () => {
    await parley('temporal', 'schedule', '--pause', 'first-batch');
    await expect.poll(listed, { timeout: 90_000 }).toMatchObject([{ paused: true, fired: 1 }]);
    await parley('temporal', 'schedule', '--unpause', 'first-batch');
    await expect.poll(listed, { timeout: 90_000 }).toMatchObject([{ paused: false }]);
    await parley('temporal', 'schedule', '--delete', 'first-batch');
    await expect.poll(listed, { timeout: 90_000 }).toEqual([]);
    const { code, stderr } = await parley('temporal', 'schedule', '--trigger', 'first-batch');
    expect(code).toBe(2);
    expect(stderr).toContain('Cannot find a schedule of "first-batch": there is none');
  });
});
