/**
 * The last release and this one over one data directory, both as programs: a batch that the old one began and was killed
 * in, records that it finished, and the way back.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { installedLastRelease } from '../../scripts/last-release.js';
import { ledgerRows, sumOf } from '../e2e/ledger.ts';
import { runStatus, type RunStatus } from '../e2e/run-status.ts';
import type { ProgramEnd } from '../e2e/running-program.ts';
import { openUpgradeBatch, recordsIn, type Programs, type UpgradeBatch } from '../e2e/upgrade-batch.ts';
import { describeWith } from '../helpers/requires.ts';

const RUN_ID = 'crossing';
const ITEMS = 6;
const ALL_MS_MAX = 300_000;

describeWith('last-release', 'a data directory of the last release', () => {
  let batch: UpgradeBatch;
  let old: Programs;
  let before: RunStatus | null;
  let end: ProgramEnd;
  let after: RunStatus | null;
  beforeAll(async () => {
    batch = await openUpgradeBatch({
      repositories: ITEMS,
      edits: [
        ['job.yaml', 'cleanup: { sandbox: delete }', 'cleanup: { sandbox: pause }'],
        ['gateway.yaml', 'latency_ms: 50', 'latency_ms: 400'],
      ],
    });
    old = batch.installedIn(installedLastRelease(process.env) ?? '');
    const part = ['--limit', String(ITEMS), '--concurrency', '2'];
    const first = old.start(['run', 'job.yaml', '--plain', '--run-id', RUN_ID, ...part]);
    expect(await first.says(/succeeded[\s\S]*succeeded/)).toBe(true);
    first.kill();
    console.log(await first.ended);
    before = await runStatus({ ...batch.copy, root: installedLastRelease(process.env) ?? '' }, RUN_ID);
    console.log(JSON.stringify(before));
    end = await batch.run(['resume', RUN_ID, '--json']);
    console.log(end);
    after = await runStatus(batch.copy, RUN_ID);
    console.log(JSON.stringify(after));
  }, ALL_MS_MAX);
  afterAll(() => batch.close());

  it('is gone on with: every item succeeds, and rows equal the bill', () => {
    expect(end.code, end.stderr).toBe(0);
    const billed = Number(sumOf(ledgerRows(batch.copy)));
    expect(recordsIn(end.stdout).at(-1)).toMatchObject({
      type: 'done',
      phase: 'finished',
      ended: { succeeded: ITEMS },
      spent_nano_usd: billed,
      reconciliation: { total_nano_usd: billed, unassigned_nano_usd: 0, within_tolerance: true },
    });
  });
});
