/**
 * Ctrl-C on a real process that runs a batch: once lets what runs end, twice leaves it as it stands, and each time the
 * command to go on with is printed and does go on.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runStatus, type RunStatus } from './run-status.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';

const RUN_ID = 'interrupted';
const ITEMS = 3;
const ALL_MS_MAX = 600_000;

describe('Ctrl-C on a run', () => {
  let batch: UpgradeBatch;
  let drained: ProgramEnd;
  let afterDrain: RunStatus | null;
  let left: ProgramEnd;
  let afterLeave: RunStatus | null;
  let watched: ProgramEnd;
  let done: ProgramEnd;

  const interrupt = ({ pid }: RunningProgram): void => void process.kill(pid, 'SIGINT');

  beforeAll(async () => {
    batch = await openUpgradeBatch({
      repositories: ITEMS,
      edits: [['gateway.yaml', 'latency_ms: 50', 'latency_ms: 400']],
    });
    const part = ['--limit', String(ITEMS), '--concurrency', '1'];
    const first = batch.start(['run', 'job.yaml', '--plain', '--run-id', RUN_ID, ...part]);
    await first.says(/: working/);
    interrupt(first);
    drained = await first.ended;
    afterDrain = await runStatus(batch.copy, RUN_ID);

    const second = batch.start(['resume', RUN_ID, '--plain']);
    await second.says(/: working/);
    const watch = batch.start(['watch', RUN_ID, '--plain']);
    await watch.says(/run: running/);
    interrupt(watch);
    watched = await watch.ended;
    interrupt(second);
    await second.says(/draining: nothing new starts/);
    interrupt(second);
    left = await second.ended;
    afterLeave = await runStatus(batch.copy, RUN_ID);
    done = await batch.run(['resume', RUN_ID, '--json']);
  }, ALL_MS_MAX);
  afterAll(() => batch.close());

  it('once: what is in flight ends, nothing new starts, and the way on is printed', () => {
    expect(drained.code, drained.stderr).toBe(3);
    expect(drained.stderr).toContain('press Ctrl-C again to leave the run as it is');
    expect(drained.stdout).toContain(`next: parley resume ${RUN_ID}`);
    expect(afterDrain?.run).toMatchObject({
      phase: 'running',
      mode: 'draining',
      in_flight: 0,
      ended: { succeeded: 1 },
    });
  });

  it('twice: the process ends at once with 130, and the run stands as it was', () => {
    expect(left.code, left.stderr).toBe(130);
    expect(left.stderr).toContain(`go on with: parley resume ${RUN_ID}`);
    expect(afterLeave?.run).toMatchObject({ phase: 'running', in_flight: 1 });
  });

  it('ends a watch, and not what is watched', () => {
    expect(watched.code).toBe(130);
    expect(left.stderr).toContain('draining');
  });

  it('has taken nothing away: resumed, the run ends well', () => {
    expect(done.code, done.stderr).toBe(0);
    expect(recordsIn(done.stdout).at(-1)).toMatchObject({ phase: 'finished', ended: { succeeded: ITEMS } });
  });
});
