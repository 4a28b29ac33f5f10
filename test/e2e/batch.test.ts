/**
 * The first batch from its own program to its reports, once in each way of isolation: nothing is replaced.
 * What one whole run shows is checked from all sides here; killed and changed runs have files of their own.
 */
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { keepAgentLogs, type AgentLog } from './agent-logs.ts';
import { copyBatch, TOKEN, type BatchCopy, type Isolation } from './batch-copy.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import { leftProcesses, sampleCommandLines, type RunningProcess } from './process-list.ts';
import { KEYS, Results } from './results.ts';
import { runStatus, type RunStatus } from './run-status.ts';
import { startProgram, type ProgramEnd } from './running-program.ts';
import { formIn, secretForms } from './secret-forms.ts';
import { findForms } from './secret-search.ts';
import { transcriptFacts } from './transcripts.ts';

/** What a newcomer is promised. */
const START_MS_MAX = 600_000;
const RUN_ID = 'first-batch-whole';
const FORMS = secretForms(TOKEN);

interface WholeRun {
  readonly end: ProgramEnd;
  readonly tookMs: number;
  readonly logs: readonly AgentLog[];
  readonly commandLines: readonly string[];
  /** Files that held the secret while the agents were at work. */
  readonly foundAtWork: readonly string[];
  readonly left: readonly RunningProcess[];
  readonly status: RunStatus;
}

async function runWhole(copy: BatchCopy): Promise<WholeRun> {
  const startedAt = performance.now();
  const logs = keepAgentLogs(copy);
  const lines = sampleCommandLines();
  const program = startProgram(copy, 'examples/first-batch/main.js', ['--run-id', RUN_ID]);
  // By then the agent with the secret has committed with it, and its sandbox is still there.
  await program.says(/replace-substr: verifying/);
  const foundAtWork = await findForms(copy.root, FORMS);
  const end = await program.ended;
  const tookMs = performance.now() - startedAt;
  const left = await leftProcesses(copy.root);
  const status = await runStatus(copy, RUN_ID);
  if (status === null) throw new Error(`there is no run: ${end.stderr}`);
  return { end, tookMs, logs: logs.stop(), commandLines: lines.stop(), foundAtWork, left, status };
}

function wholeBatch(isolation: Isolation): void {
  let copy: BatchCopy;
  let run: WholeRun;
  let results: Results;
  beforeAll(async () => {
    copy = copyBatch(isolation);
    run = await runWhole(copy);
    results = new Results(copy, RUN_ID);
  }, START_MS_MAX);
  afterAll(() => copy.close());

  it('succeeds in time, with results on standard output and progress beside it', () => {
    expect(run.end).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Results: .*first-batch-whole\n$/),
    });
    expect(run.tookMs).toBeLessThan(START_MS_MAX);
    const { stdout } = run.end;
    expect(stdout.startsWith(`run ${RUN_ID}\n`)).toBe(true);
    expect(stdout).toContain('first-batch: finished in ');
    expect(stdout).toContain('done 3/3, running 0, waiting 0, failed 0');
    expect(stdout).not.toMatch(/starting|working|verifying|warning/);
  });

  it('shares one of two sandboxes, and tells states and tags', () => {
    const byKey = new Map(run.status.items.map((item) => [item.key, item]));
    expect([...byKey.keys()]).toEqual(KEYS);
    for (const item of run.status.items) {
      expect(item).toMatchObject({
        execution_status: 'FINISHED',
        outcome: 'succeeded',
        attempt: 1,
        sandbox_status: 'MISSING',
      });
    }
    expect(new Set(run.status.items.map((item) => item.sandbox_id)).size).toBe(2);
    expect(byKey.get('choice-suggestions')?.sandbox_id).not.toBe('');
    expect(byKey.get('esm-entry')?.tags).toEqual({ batch: 'first', package: 'ms', kind: 'feature' });
    expect(run.status.run).toMatchObject({ phase: 'finished', total: 3, ended: { succeeded: 3 } });
  });

  it('leaves no sandbox: no process, no directory, no socket', () => {
    expect(run.left).toEqual([]);
    expect(readdirSync(path.join(copy.dataDir, 'sandboxes'))).toEqual([]);
    const sockets = readdirSync(copy.env['TMPDIR'] ?? '', { recursive: true, encoding: 'utf8' });
    expect(sockets.filter((name) => name.endsWith('.sock'))).toEqual([]);
  });

  it('collects patches that Git accepts on the base commit of a fresh clone', () => {
    const folder = mkdtempSync(path.join(copy.root, 'clones-'));
    for (const key of KEYS) {
      expect(results.patch(key)).toMatch(/^diff --git /m);
      expect(() => results.checkPatch(key, folder), key).not.toThrow();
    }
  });

  it('collects every event that the agents wrote down, in their order', async () => {
    const facts = await transcriptFacts(results, run.status.items, run.logs);
    for (const { key, hasEverySequence, ids, agentIds, finishes } of facts) {
      expect(hasEverySequence, key).toBe(true);
      expect(agentIds.length, key).toBeGreaterThan(10);
      expect(ids, key).toEqual(agentIds);
      expect(finishes, key).toBe(1);
    }
  });

  it('reports what the gateway billed, to the nano-dollar, without forwarded headers', () => {
    const rows = ledgerRows(copy);
    expect(rows.every((row) => row.session_id === null && row.metadata === null)).toBe(true);
    const total = sumOf(rows);
    expect(results.sums()).toEqual({ total, assigned: total, ambiguous: 0n, unassigned: 0n });
    expect(run.status.run['reconciliation']).toMatchObject({
      rows: rows.length,
      total_nano_usd: Number(total),
      within_tolerance: null,
    });
    expect(run.status.run['spent_nano_usd']).toBe(Number(total));
  });

  it('lets the secret out nowhere: files, archives, database, logs, output, command lines', async () => {
    expect(run.foundAtWork).toEqual([]);
    expect(await findForms(copy.root, FORMS)).toEqual([]);
    const printed = Buffer.from(`${run.end.stdout}\n${run.end.stderr}\n${run.commandLines.join('\n')}`);
    expect(formIn(printed, FORMS)).toBeNull();
    expect(run.commandLines.some((line) => line.includes(copy.root))).toBe(true);
    // The agent had it: its commit carries a proof that cannot be made without it.
    expect(existsSync(path.join(copy.dataDir, 'seal.key'))).toBe(true);
    const events = await results.events('replace-substr');
    expect(JSON.stringify(events)).toMatch(/Review-Proof: [0-9a-f]{64}/);
  });
}

describeWith('bwrap', 'the first batch in namespaces', () => wholeBatch('namespaces'));
describe('the first batch in plain processes', () => wholeBatch('none'));
