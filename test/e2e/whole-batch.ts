/**
 * The first batch from its start to its report, as its own program, with whatever deployment a test names.
 * Owns the copy and its report without what differs between any two runs; the caller closes the copy.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { normalizedReport, withRecords, type NormalizedReport } from './normalized-report.ts';
import { Results } from './results.ts';
import { runProgram, type ProgramEnd } from './running-program.ts';

const RUN_ID = 'first-batch-whole';

export interface WholeBatch {
  readonly copy: BatchCopy;
  readonly end: ProgramEnd;
  readonly report: NormalizedReport;
  /** Sandboxes that its conversations were in. */
  readonly sandboxIds: readonly string[];
}

/** `before` finds the copy as it is installed. Rejects with what the program wrote when it ends with anything but success. */
export async function runWholeBatch(
  env: Readonly<Record<string, string>>,
  before: (copy: BatchCopy) => Promise<void> = () => Promise.resolve(),
): Promise<WholeBatch> {
  const copy = copyBatch('none');
  try {
    const job = path.join(copy.example, 'job.yaml');
    writeFileSync(job, withRecords(readFileSync(job, 'utf8')));
    await before(copy);
    const end = await runProgram(copy, 'examples/first-batch/main.js', ['--run-id', RUN_ID], env);
    if (end.code !== 0) throw new Error(`Cannot run the batch: ${end.stderr}`);
    const results = new Results(copy, RUN_ID);
    return { copy, end, report: normalizedReport(results), sandboxIds: sandboxesOf(results) };
  } catch (error) {
    copy.close();
    throw error;
  }
}

function sandboxesOf(results: Results): readonly string[] {
  const records = results.text('report.jsonl').trim().split('\n');
  return [...new Set(records.map((line) => (JSON.parse(line) as { sandbox_id: string }).sandbox_id))];
}
