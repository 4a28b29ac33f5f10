/**
 * The first batch in containers of a real daemon: the same report as in plain processes, and nothing left behind.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeDaemon, containersOf, dockerSocket } from '../../scripts/docker-daemon.ts';
import { describeWith } from '../helpers/requires.ts';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { normalizedReport, withRecords, type NormalizedReport } from './normalized-report.ts';
import { Results } from './results.ts';
import { runProgram, type ProgramEnd } from './running-program.ts';

/** Both runs, and the image the first time. */
const START_MS_MAX = 300_000;
const RUN_ID = 'first-batch-whole';

interface Ran {
  readonly copy: BatchCopy;
  readonly end: ProgramEnd;
  readonly report: NormalizedReport;
}

describeWith('dockerd', 'the first batch in containers', () => {
  const copies: BatchCopy[] = [];
  let inContainers: Ran;
  let inProcesses: Ran;
  const run = async (env: Readonly<Record<string, string>>): Promise<Ran> => {
    const copy = copyBatch('none');
    copies.push(copy);
    const job = path.join(copy.example, 'job.yaml');
    writeFileSync(job, withRecords(readFileSync(job, 'utf8')));
    const end = await runProgram(copy, 'examples/first-batch/main.js', ['--run-id', RUN_ID], env);
    if (end.code !== 0) throw new Error(`Cannot run the batch: ${end.stderr}`);
    return { copy, end, report: normalizedReport(new Results(copy, RUN_ID)) };
  };
  beforeAll(async () => {
    inContainers = await run({ PARLEY_RUNTIME: 'docker', PARLEY_DOCKER_SOCKET: dockerSocket() });
    inProcesses = await run({});
  }, START_MS_MAX);
  afterAll(async () => {
    for (const copy of copies) copy.close();
    await closeDaemon();
  });

  it('succeeds with every conversation, and warns of nothing', () => {
    expect(inContainers.end.stdout).toContain('done 3/3, running 0, waiting 0, failed 0');
    expect(inContainers.end.stderr).not.toMatch(/warning/i);
  });

  it('tells the same as in processes, record for record', () => {
    expect(inContainers.report).toEqual(inProcesses.report);
  });

  it('leaves no sandbox: no container, no directory, no socket', () => {
    expect(containersOf(dockerSocket())).toEqual([]);
    const { copy } = inContainers;
    const left = path.join(copy.dataDir, 'sandboxes');
    expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
    const sockets = readdirSync(copy.env['TMPDIR'] ?? '', { recursive: true, encoding: 'utf8' });
    expect(sockets.filter((name) => name.endsWith('.sock'))).toEqual([]);
  });
});
