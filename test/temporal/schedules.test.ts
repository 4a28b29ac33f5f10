/**
 * Schedules on a real server: their form there, what becomes of a firing while the run before goes on, and of one that
 * was due while no server was there. Their expressions have seconds, which the job language does not allow.
 */
import { setTimeout as pause } from 'node:timers/promises';
import path from 'node:path';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { Connection, ScheduleClient } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { runId, type RunId } from '../../core/ids.ts';
import type { PlanSchedule } from '../../core/plan/plan.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { Schedules } from '../../temporal/schedules/schedules.ts';
import { startWorkers } from '../../temporal/worker.ts';
import type { CarrierActivities } from '../../workflows/carrier.ts';
import type { Firing, ScheduleActivities } from '../../workflows/scheduled-run.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { BUNDLE } from './support/deployment.ts';
import { eventually, SLOW_MS } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

const QUEUE = 'schedules';
const OVERLAPS = ['skip', 'buffer_one', 'buffer_all', 'cancel_other', 'allow_all'] as const;
const SCHEDULE: PlanSchedule = {
  cron: ['0 3 1 1 *'],
  timezone: 'Europe/Berlin',
  overlap: 'skip',
  catchupMs: null,
  jitterMs: null,
  paused: false,
};
/** Seconds come first in an expression of seven fields. */
const PERIODIC = '*/2 * * * * * *';
const PERIOD_MS = 2_000;
/** A server makes up for at least so much. */
const CATCHUP_MIN_MS = 10_000;
/** In so much time two schedules are made and their server is stopped, also on a busy machine. */
const DUE_AFTER_MS = 10_000;

const inputOf = (job: string) => ({ queue: QUEUE, job, planId: runId('r1'), planHash: 'h' });

async function schedulesOn({ address }: DevServer) {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  const client = new ScheduleClient({ connection });
  const described = (job: string) => client.getHandle(`parley-job/${job}`).describe();
  return { schedules: new Schedules({ connection, namespace: 'default' }), described };
}

/** Runs that go on until they are let end, or cancelled. */
class Runs {
  readonly cancelled: RunId[] = [];
  readonly activities: ScheduleActivities = {
    beginScheduledRun: ({ job, firing }: Firing) => {
      const id = runId(`${job.replaceAll('_', '-')}-${firing}`);
      const { workflowId = '' } = Context.current().info.workflowExecution ?? {};
      const dueAt = Date.parse(workflowId.slice(`scheduled/${job}-`.length));
      this.begun.set(job, (this.begun.get(job) ?? new Map<RunId, number>()).set(id, dueAt));
      return Promise.resolve(id);
    },
    awaitScheduledRun: (id) => {
      if (this.ended.has(id)) return Promise.resolve();
      throw ApplicationFailure.create({ type: 'poll', message: 'it goes on', nextRetryDelay: 100 });
    },
    cancelScheduledRun: ({ runId: id }) => {
      this.cancelled.push(id);
      this.ended.add(id);
      return Promise.resolve();
    },
  };
  /** By job and run: when it was due, epoch milliseconds. */
  private readonly begun = new Map<string, Map<RunId, number>>();
  private readonly ended = new Set<RunId>();

  of(job: string): readonly RunId[] {
    return [...(this.begun.get(job)?.keys() ?? [])];
  }

  /** In the order in which they began. */
  dueAt(job: string): readonly number[] {
    return [...(this.begun.get(job)?.values() ?? [])];
  }

  endAllOf(job: string): void {
    for (const id of this.of(job)) this.ended.add(id);
  }
}

async function workersFor({ address }: DevServer, runs: Runs): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  const nobody = () => Promise.reject(new Error('no entity lives here'));
  const carrier: CarrierActivities = { announce: nobody, takeUp: nobody };
  const workers = await startWorkers({
    connection,
    namespace: 'default',
    queue: QUEUE,
    activities: { ...carrier, ...runs.activities },
    bundlePath: BUNDLE,
    extra: { shutdownGraceTime: 100 },
  });
  onTestFinished(async () => {
    await workers.stop();
    await connection.close();
  });
}

describeWith('temporal', 'a schedule on a server', () => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startServerForTests();
    return () => server.stop();
  });

  it('has there what the job says', { timeout: SLOW_MS }, async () => {
    const { schedules, described } = await schedulesOn(server);
    for (const overlap of OVERLAPS) {
      const job = `form_${overlap}`;
      await schedules.put({ ...SCHEDULE, overlap, catchupMs: 7_200_000, jitterMs: 300_000 }, inputOf(job));
      const { policies, spec, action } = await described(job);
      expect(policies).toMatchObject({ overlap: overlap.toUpperCase(), catchupWindow: 7_200_000 });
      expect(spec).toMatchObject({ timezone: 'Europe/Berlin', jitter: 300_000 });
      expect(action).toMatchObject({ workflowType: 'scheduledRun', workflowId: `scheduled/${job}` });
      expect(await schedules.find(job)).toMatchObject({ overlap, paused: false, planHash: 'h' });
    }
  });

  it('fires while the run before goes on as its overlap says', { timeout: SLOW_MS }, async () => {
    const { schedules, described } = await schedulesOn(server);
    const runs = new Runs();
    await workersFor(server, runs);
    for (const overlap of OVERLAPS)
      await schedules.put({ ...SCHEDULE, cron: [PERIODIC], overlap }, inputOf(overlap));
    const begun = (job: string, least: number) => eventually(() => runs.of(job).length >= least, true);
    const leftOut = (job: string) =>
      eventually(async () => (await described(job)).info.numActionsSkippedOverlap >= 2, true);

    await begun('allow_all', 3);
    await begun('cancel_other', 3);
    const [first, second] = runs.of('cancel_other');
    await eventually(() => runs.cancelled.slice(0, 2), [first, second]);
    await leftOut('skip');
    await leftOut('buffer_one');
    const endedAt = Date.now();
    for (const job of ['skip', 'buffer_one', 'buffer_all']) {
      expect(runs.of(job), job).toHaveLength(1);
      runs.endAllOf(job);
    }
    for (const job of ['skip', 'buffer_one', 'buffer_all']) await begun(job, 2);
    for (const job of ['buffer_one', 'buffer_all']) runs.endAllOf(job);
    for (const job of ['buffer_one', 'buffer_all']) await begun(job, 3);
    const afterFirst = (job: string) => runs.dueAt(job).map((at) => at - (runs.dueAt(job)[0] ?? 0));
    // The next one that fell due waited, or all did, or none.
    expect(afterFirst('buffer_all').slice(1, 3)).toEqual([PERIOD_MS, 2 * PERIOD_MS]);
    expect(afterFirst('buffer_one')[1]).toBe(PERIOD_MS);
    expect(afterFirst('buffer_one')[2]).toBeGreaterThan(2 * PERIOD_MS);
    expect(runs.dueAt('skip')[1]).toBeGreaterThan(endedAt - PERIOD_MS);
    for (const overlap of OVERLAPS) {
      await schedules.delete(overlap);
      runs.endAllOf(overlap);
    }
  });
});

describeWith('temporal', 'a schedule whose server was away when it was due', () => {
  it('is made up for within its catch-up, and not beyond', { timeout: 2 * SLOW_MS }, async () => {
    const databaseFile = path.join(tempDir(), 'temporal.db');
    const before = await startServerForTests({ databaseFile });
    const { schedules } = await schedulesOn(before);
    const due = new Date(Date.now() + DUE_AFTER_MS);
    due.setMilliseconds(0);
    const [hour, minute, second] = [due.getUTCHours(), due.getUTCMinutes(), due.getUTCSeconds()];
    const once = [`${second} ${minute} ${hour} * * * *`];
    const made = { ...SCHEDULE, cron: once, timezone: 'UTC' };
    await schedules.put({ ...made, catchupMs: 3_600_000 }, inputOf('made-up'));
    await schedules.put({ ...made, catchupMs: CATCHUP_MIN_MS }, inputOf('left-out'));
    for (const job of ['made-up', 'left-out'])
      await eventually(async () => (await schedules.find(job))?.nextAt[0], due.getTime());
    await before.stop();
    expect(Date.now()).toBeLessThan(due.getTime());
    // The instant itself is what the test is about: a server cannot be given another one.
    await pause(due.getTime() + CATCHUP_MIN_MS + 1_000 - Date.now());

    const after = await startServerForTests({ databaseFile });
    onTestFinished(() => after.stop());
    const { described } = await schedulesOn(after);
    const told = async (job: string) => {
      const { numActionsTaken: fired, numActionsMissedCatchupWindow: missed } = (await described(job)).info;
      return { fired, missed };
    };
    await eventually(() => told('made-up'), { fired: 1, missed: 0 });
    await eventually(() => told('left-out'), { fired: 0, missed: 1 });
  });
});
