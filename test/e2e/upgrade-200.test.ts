/**
 * The example of 200 repositories: its data is what its program makes, all of it is planned and simulated, and the
 * first 20 run for real, to the micro-dollar; one result is applied to a checkout.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerRows, sumOf } from './ledger.ts';
import type { ProgramEnd } from './running-program.ts';
import { openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';

const RUN_ID = 'upgrade-lib-part';
const PART = 20;
/** Some repositories more than conversations: one in 17 is frozen. */
const REPOSITORIES = 22;
const ALL_MS_MAX = 600_000;

describe('the upgrade of 200 repositories', () => {
  let batch: UpgradeBatch;
  let planned: ProgramEnd;
  let simulated: ProgramEnd;
  let end: ProgramEnd;
  let again: ProgramEnd;
  beforeAll(async () => {
    batch = await openUpgradeBatch({ repositories: REPOSITORIES });
    planned = await batch.run(['plan', 'job.yaml']);
    simulated = await batch.run(['simulate', 'job.yaml', '--json']);
    const part = ['run', 'job.yaml', '--limit', String(PART), '--concurrency', '5'];
    end = await batch.run([...part, '--json', '--run-id', RUN_ID]);
    again = await batch.run(['plan', 'job.yaml']);
  }, ALL_MS_MAX);
  afterAll(() => batch.close());

  it('has the data file that its catalogue makes: 212 rows, of which 200 are not frozen', () => {
    const { example } = batch.copy;
    const text = readFileSync(path.join(example, 'repos.csv'), 'utf8');
    expect(execFileSync(process.execPath, ['catalogue.js'], { cwd: example, encoding: 'utf8' })).toBe(text);
    const rows = text.trimEnd().split('\n').slice(1);
    expect(rows).toHaveLength(212);
    expect(rows.filter((row) => !row.endsWith(',frozen'))).toHaveLength(200);
  });

  it('is planned with counts, cost and every limit it will meet', () => {
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    const lines = planned.stdout.split('\n');
    expect(lines.slice(0, 6)).toEqual([
      'upgrade-lib: 200 conversations, 16 at once, placement fewest_conversations',
      'models: fast 180, strong 20',
      'cost: at most $500.000000, budget $350.000000; 16 at once, sandboxes at most 8',
      'limit: per.model.strong: 8 at once',
      'limit: per.repo: 1 at once of each',
      'limit: admission.concurrency: 16 of 200 conversations at once',
    ]);
  });

  it('is simulated to its end', () => {
    expect(simulated.code).toBe(0);
    const records = recordsIn(simulated.stdout);
    expect(records.filter(({ type }) => type === 'simulated')).toHaveLength(200);
    expect(records.at(-1)).toMatchObject({ type: 'simulation', phase: 'finished' });
  });

  it('runs for real, in the order of its priorities, and every check passes', () => {
    expect(end.code, end.stderr).toBe(0);
    const records = recordsIn(end.stdout);
    expect(records.at(-1)).toMatchObject({
      type: 'done',
      phase: 'finished',
      total: PART,
      ended: { succeeded: PART },
    });
    const begun = records.filter(({ type, phase }) => type === 'item' && phase === 'starting');
    const first = begun.slice(0, 5).map(({ key }) => key);
    expect(first).toEqual(expect.arrayContaining(['acme/service-010', 'acme/service-020']));
  });

  it('is reconciled with the bill to the nano-dollar, with nothing left over', () => {
    const billed = sumOf(ledgerRows(batch.copy));
    expect(billed).toBeGreaterThan(0n);
    expect(recordsIn(end.stdout).at(-1)).toMatchObject({
      spent_nano_usd: Number(billed),
      reconciliation: {
        rows: 4 * PART,
        total_nano_usd: Number(billed),
        assigned_nano_usd: Number(billed),
        ambiguous_nano_usd: 0,
        unassigned_nano_usd: 0,
        within_tolerance: true,
      },
    });
  });

  it('is planned against that run: what succeeded would be the same, the others are new', () => {
    expect(again.stdout).toContain(`against ${RUN_ID}: + ${200 - PART} new   = ${PART} reused`);
    expect(again.stdout).toMatch(
      /^time: p50 .*, p90 .*, from the last run; the last one waits .+ for its turn$/m,
    );
    expect(again.stdout).toMatch(/^cost: p50 \$\d.*, p90 \$\d.*, at most \$500\.000000, budget/m);
  });

  it('gives one result to a checkout, and the check of the repository passes there', async () => {
    const key = 'acme/service-003';
    const checkout = path.join(batch.copy.root, 'checkout');
    const origin = path.join(batch.copy.dataDir, 'repos', `${key}.git`);
    execFileSync('git', ['clone', '--quiet', origin, checkout]);
    const test = () => execFileSync(process.execPath, ['test.mjs'], { cwd: checkout, stdio: 'pipe' });
    expect(test).toThrow(/left-pad-3/);
    const applied = await batch.run(['apply', RUN_ID, key, '--to', checkout, '--json']);
    expect(applied.code, applied.stderr).toBe(0);
    expect(test).not.toThrow();
  });
});
