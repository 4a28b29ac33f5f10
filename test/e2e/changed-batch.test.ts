/**
 * The batch under interference: another caller on the same bill, other work by the model, work that is not good.
 * One run in each way of isolation has all three, and each is checked by itself.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { copyBatch, type BatchCopy, type Isolation } from './batch-copy.ts';
import { openGateway, type BatchGateway } from './batch-gateway.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import { Results } from './results.ts';
import { runStatus, type RunStatus } from './run-status.ts';
import { startProgram, type ProgramEnd } from './running-program.ts';

const RUN_MS_MAX = 600_000;
const RUN_ID = 'first-batch-changed';

function replaceIn(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`"${file}" has no "${from}"`);
  writeFileSync(file, text.replace(from, to));
}

function changedBatch(isolation: Isolation): void {
  let copy: BatchCopy;
  let gateway: BatchGateway;
  let end: ProgramEnd;
  let status: RunStatus | null;
  let results: Results;
  beforeAll(async () => {
    copy = copyBatch(isolation);
    const written = path.join(copy.example, 'written');
    replaceIn(path.join(written, 'ms/index.mjs.txt'), 'Parse a duration', 'Read a duration');
    replaceIn(path.join(written, 'yaml/replace-substr.mjs'), "'dist', 'browser'", "'dist'");
    gateway = await openGateway(copy);
    const run = startProgram(copy, 'bin/parley.js', ['run', 'job.yaml', '--run-id', RUN_ID], gateway.env);
    await run.says(/: working/);
    await gateway.callFromOutside();
    end = await run.ended;
    status = await runStatus(copy, RUN_ID);
    results = new Results(copy, RUN_ID);
  }, RUN_MS_MAX);
  afterAll(async () => {
    await gateway.stop();
    copy.close();
  });

  it('reports the row of another caller as unassigned, and sums that stay exact', () => {
    const rows = ledgerRows(copy);
    const foreign = rows.filter((row) => row.prompt_tokens === 1873).slice(-1);
    expect(rows.filter((row) => row.prompt_tokens === 1873)).toHaveLength(2);
    const total = sumOf(rows);
    const unassigned = sumOf(foreign);
    expect(unassigned).toBeGreaterThan(0n);
    expect(results.sums()).toEqual({ total, assigned: total - unassigned, ambiguous: 0n, unassigned });
    expect(results.text('report.md')).toMatch(/^\| unassigned \| 1 \|$/m);
  });

  it('has the other text in the patch, and nothing else is other', () => {
    expect(results.patch('esm-entry')).toContain('+ * Read a duration such as "1.5h"');
    expect(results.patch('esm-entry')).not.toContain('Parse a duration');
    expect(status?.items.find(({ key }) => key === 'esm-entry')?.outcome).toBe('succeeded');
  });

  it('fails the check of work that is not good, though its agent has finished', () => {
    const item = status?.items.find(({ key }) => key === 'replace-substr');
    expect(item).toMatchObject({ execution_status: 'FINISHED', outcome: 'check_failed', attempt: 1 });
    expect(results.patch('replace-substr')).not.toContain('browser/dist/parse/lexer.js');
    expect(results.text('replace-substr', 'verify.log')).toMatch(/^not ok /m);
    expect(status?.run).toMatchObject({ phase: 'finished', ended: { succeeded: 2, check_failed: 1 } });
    expect(end.code).toBe(1);
  });
}

describeWith('bwrap', 'a changed batch in namespaces', () => changedBatch('namespaces'));
describe('a changed batch in plain processes', () => changedBatch('none'));
