/**
 * Two builds of the worker, as real processes over one data directory: they take turns, and a run that is under way
 * goes from the old one to the new one by `parley temporal promote` and `drain`.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { KEYS } from './results.ts';
import { runStatus } from './run-status.ts';
import { startProgram, type ProgramEnd, type RunningProgram } from './running-program.ts';
import { openTemporalBatch, type TemporalBatch } from './temporal-batch.ts';

const RUN_ID = 'first-batch-builds';
const DEPLOYMENT = 'parley-e2e';
const ALL_MS_MAX = 600_000;

describeWith('temporal', 'two builds of the worker over one data directory', () => {
  let server: DevServer;
  let batch: TemporalBatch;
  beforeAll(async () => {
    server = await startServerForTests();
    batch = await openTemporalBatch({ PARLEY_DEPLOYMENT: DEPLOYMENT });
  }, ALL_MS_MAX);
  afterAll(async () => {
    await batch?.close();
    await server?.stop();
  });

  const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningProgram =>
    startProgram(batch.copy, 'bin/parley.js', args, {
      ...batch.gateway.env,
      PARLEY_DEPLOYMENT: DEPLOYMENT,
      TEMPORAL_ADDRESS: server.address,
      PARLEY_ENGINE: 'temporal',
      ...env,
    });
  const worker = async (buildId: string): Promise<RunningProgram> => {
    const program = start(['worker'], { PARLEY_BUILD_ID: buildId });
    if (await program.says(/Ctrl-C ends it/)) return program;
    throw new Error(`the worker ended: ${(await program.ended).stderr}`);
  };
  const stop = async ({ pid, ended }: RunningProgram): Promise<ProgramEnd> => {
    process.kill(pid, 'SIGTERM');
    const end = await ended;
    expect(end.code, end.stderr).toBe(0);
    return end;
  };
  const temporal = async (...args: readonly string[]): Promise<ProgramEnd> => {
    const end = await start(['temporal', ...args]).ended;
    expect(end.code, end.stderr).toBe(0);
    return end;
  };
  const builds = async (): Promise<Readonly<Record<string, string>>> => {
    const lines = (await temporal('versions')).stdout.trim().split('\n').slice(1);
    return Object.fromEntries(lines.map((line) => line.split(/ +/, 2) as [string, string]));
  };

  it(
    'hand a run over that is under way, and it ends well',
    async () => {
      const first = await worker('one');
      const run = start(['run', 'job.yaml', '--json', '--run-id', RUN_ID]);
      await expect
        .poll(
          async () => (await runStatus(batch.copy, RUN_ID))?.items.some((item) => item.sandbox_id !== ''),
          {
            timeout: 60_000,
          },
        )
        .toBe(true);
      expect((await stop(first)).stdout).toMatch(/^build +one of parley-e2e$/m);

      const waiting = await worker('two');
      expect(await waiting.says(/build two is not the current one .* parley temporal promote two$/m)).toBe(
        true,
      );
      expect(await builds()).toMatchObject({ one: 'current', two: 'waiting' });
      expect((await temporal('promote', 'two')).stderr).toContain('parley temporal drain one');
      await stop(waiting);

      const leaving = await worker('one');
      const drained = await temporal('drain', 'one', '--json', '--wait', '120');
      expect(drained.stdout).toMatch(/"type":"drained".*"deployment":"parley-e2e".*"left":0/);
      await stop(leaving);

      const last = await worker('two');
      const end = await run.ended;
      expect(end.code, end.stderr).toBe(0);
      expect((await builds())['two']).toBe('current');
      await stop(last);
      const status = await runStatus(batch.copy, RUN_ID);
      expect(status?.items.map(({ key, outcome, attempt }) => [key, outcome, attempt])).toEqual(
        KEYS.map((key) => [key, 'succeeded', 1]),
      );
      expect(await batch.left()).toEqual({ processes: [], folders: [] });
    },
    ALL_MS_MAX,
  );
});
