/**
 * The last release and this one over one Temporal server, both as programs: what a worker of the old one left open is
 * replayed and gone on with by a worker of this one.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installedLastRelease } from '../../scripts/last-release.js';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { ledgerRows, sumOf } from '../e2e/ledger.ts';
import { runStatus } from '../e2e/run-status.ts';
import type { ProgramEnd, RunningProgram } from '../e2e/running-program.ts';
import { openUpgradeBatch, recordsIn, type Programs, type UpgradeBatch } from '../e2e/upgrade-batch.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';

const RUN_ID = 'crossing-temporal';
const ITEMS = 3;
const OPEN = "ExecutionStatus = 'Running'";
const ALL_MS_MAX = 300_000;

async function startWorker(programs: Programs): Promise<RunningProgram> {
  const program = programs.start(['worker']);
  if (await program.says(/Ctrl-C ends it/)) return program;
  throw new Error(`the worker ended: ${(await program.ended).stderr}`);
}

async function stop({ pid, ended }: RunningProgram): Promise<ProgramEnd> {
  process.kill(pid, 'SIGTERM');
  return await ended;
}

describeWith('last-release', 'a Temporal server with open workflows of the last release', () => {
  let server: DevServer;
  let batch: UpgradeBatch;
  let replayed: ProgramEnd;
  let waited: ProgramEnd;
  let workers: readonly ProgramEnd[];
  /** A worker of the old build that comes back. */
  let refused: ProgramEnd;
  beforeAll(async () => {
    server = await startServerForTests();
    batch = await openUpgradeBatch({
      repositories: ITEMS,
      env: { TEMPORAL_ADDRESS: server.address, PARLEY_ENGINE: 'temporal' },
      edits: [
        ['gateway.yaml', 'latency_ms: 50', 'latency_ms: 200'],
        // A call that is under way when its worker ends is billed, and no answer says whose it was.
        ['job.yaml', 'expect: { unmatched_usd: 0 }', 'expect: { unmatched_usd: 1 }'],
      ],
    });
    const old = batch.installedIn(installedLastRelease(process.env) ?? '');
    const first = await startWorker(old);
    const part = ['--limit', String(ITEMS), '--concurrency', '2'];
    const run = old.start(['run', 'job.yaml', '--plain', '--run-id', RUN_ID, ...part]);
    expect(await run.says(/: succeeded/)).toBe(true);
    run.kill();
    const stopped = await stop(first);
    replayed = await batch.run(['temporal', 'replay', '--query', OPEN, '--json']);
    const next = await startWorker(batch);
    waited = await batch.run(['wait', RUN_ID, '--json']);
    workers = [stopped, await stop(next)];
    refused = await old.run(['worker']);
  }, ALL_MS_MAX);
  afterAll(async () => {
    await batch?.close();
    await server?.stop();
  });

  it('has every open history replay on this build', () => {
    expect(replayed.code, replayed.stdout).toBe(0);
    const histories = recordsIn(replayed.stdout);
    const machines = new Set(histories.map(({ workflow_id: id }) => String(id).split('/')[0]));
    expect([...machines].sort()).toEqual(['conversation', 'run', 'sandbox']);
    expect(histories.map(({ problem }) => problem)).toEqual(histories.map(() => null));
  });

  it('has its run end well, each conversation at its first attempt, and the rows equal the bill', async () => {
    expect(waited.code, waited.stderr).toBe(0);
    const status = await runStatus(batch.copy, RUN_ID);
    expect(status?.items.map(({ outcome, attempt }) => [outcome, attempt])).toEqual(
      Array(ITEMS).fill(['succeeded', 1]),
    );
    const { spent_nano_usd: spent, reconciliation } = status?.run as {
      readonly spent_nano_usd: number;
      readonly reconciliation: Readonly<{ [name: string]: number }>;
    };
    const billed = Number(sumOf(ledgerRows(batch.copy)));
    expect(reconciliation['total_nano_usd']).toBe(billed);
    expect(spent + Number(reconciliation['unassigned_nano_usd'])).toBe(billed);
  });

  it('is left by workers that end as they should', () => {
    for (const { code, stderr } of workers) expect(code, stderr).toBe(0);
  });

  it('is no place for a worker of the last release any more, which says why', () => {
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/its schema "\d{4}-[\w-]+" is newer than this program's "0001-schema"/);
  });
});
