/**
 * One batch of three agents, the example as it is shipped: the reference agent, OpenCode and Claude Code from npm, each at
 * the same two tasks in sandboxes of its own. Its report compares them by success, time and cost, and adds up to the bill.
 */
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { usdWords } from '../../report/report-words.ts';
import { agentFolder } from '../../scripts/acp-agents.js';
import { agentGateway } from '../e2e/agent-scripts.ts';
import { copyBatch, type BatchCopy } from '../e2e/batch-copy.ts';
import { openGateway, type BatchGateway } from '../e2e/batch-gateway.ts';
import { ledgerRows, sumOf } from '../e2e/ledger.ts';
import { Results } from '../e2e/results.ts';
import { runProgram, type ProgramEnd } from '../e2e/running-program.ts';
import { describeWith, missing } from '../helpers/requires.ts';

const MS_MAX = 900_000;
const RUN_ID = 'three-agents';
const AGENTS = ['reference', 'opencode', 'claude-code'] as const;
const JOB = path.join(import.meta.dirname, '../../examples/agents/job.yaml');
/** It takes only the first step of the second task. */
const FAILED = { agent: 'claude-code', task: 'choice-suggestions' } as const;

interface ResultLine {
  readonly key: string;
  readonly agent?: string;
  readonly outcome: string;
  readonly spent_nano_usd?: number;
}

describeWith('acp-agents', 'a batch of three agents', () => {
  let copy: BatchCopy;
  let gateway: BatchGateway;
  let planned: ProgramEnd;
  let end: ProgramEnd;
  let results: Results;
  const lines = (): readonly ResultLine[] =>
    results
      .text('results.jsonl')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ResultLine)
      .filter(({ key }) => key !== undefined);
  /** The cells of the report's comparison, by agent. */
  const compared = (): Readonly<Record<string, readonly string[]>> => {
    const [, section = ''] = results.text('report.md').split('## Agents compared\n');
    const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
    return Object.fromEntries(
      rows.map((line) => {
        const [, agent = '', ...cells] = line.split('|').map((cell) => cell.trim());
        return [agent, cells.slice(0, -1)];
      }),
    );
  };

  beforeAll(async () => {
    copy = copyBatch(missing('bwrap') === null ? 'namespaces' : 'none');
    writeFileSync(path.join(copy.example, 'gateway.yaml'), agentGateway(AGENTS, FAILED));
    cpSync(JOB, path.join(copy.example, 'job.yaml'));
    gateway = await openGateway(copy);
    for (const name of ['opencode', 'claude-code'] as const) {
      const added = await runProgram(copy, 'bin/parley.js', [
        ...['agent', 'add', name, '--from', agentFolder(name, process.env) ?? ''],
      ]);
      expect(added.code, added.stderr).toBe(0);
    }
    planned = await runProgram(copy, 'bin/parley.js', ['plan', 'job.yaml'], gateway.env);
    end = await runProgram(copy, 'bin/parley.js', ['run', 'job.yaml', '--run-id', RUN_ID], gateway.env);
    results = new Results(copy, RUN_ID);
  }, MS_MAX);
  afterAll(async () => {
    await gateway?.stop();
    copy?.close();
  });

  it('is planned with the agents by name and their installed versions', () => {
    expect(planned.stdout, planned.stderr).toContain('reference (2), opencode (2), claude-code (2)');
    expect(planned.stdout).toContain('installed: ');
  });

  it('has a patch that passes its check from each agent, and a failure where an agent did not do the task', () => {
    expect(end.code, end.stdout + end.stderr).toBe(0);
    const outcomes = Object.fromEntries(lines().map(({ key, outcome }) => [key, outcome]));
    expect(outcomes).toEqual({
      'esm-entry/reference': 'succeeded',
      'esm-entry/opencode': 'succeeded',
      'esm-entry/claude-code': 'succeeded',
      'choice-suggestions/reference': 'succeeded',
      'choice-suggestions/opencode': 'succeeded',
      'choice-suggestions/claude-code': 'check_failed',
    });
    const patches = AGENTS.map((agent) => results.text('esm-entry', agent, 'changes.patch'));
    for (const patch of patches) expect(patch).toContain('index.mjs');
  });

  it('compares them by success, time and cost', () => {
    const table = compared();
    expect(table['agent']?.slice(0, 4)).toEqual(['model', 'conversations', 'succeeded', 'time']);
    for (const agent of AGENTS) {
      const [model, conversations, succeeded, time] = table[agent] ?? [];
      expect([agent, model, conversations]).toEqual([agent, 'coder', '2']);
      expect(succeeded).toBe(agent === FAILED.agent ? '1 (50 %)' : '2 (100 %)');
      expect(time).toMatch(/^(\d+ min )?\d+ s$/);
    }
    const html = results.text('report.html');
    expect(html).toContain('Agents compared');
    for (const agent of AGENTS) expect(html).toContain(table[agent]?.at(-2) ?? 'no cost');
  });

  it('adds up to the bill: agent by agent, conversation by conversation, to the nano-dollar', () => {
    const bill = ledgerRows(copy);
    const table = compared();
    const spent = AGENTS.map((agent) =>
      lines()
        .filter((line) => line.agent === agent)
        .reduce((sum, line) => sum + BigInt(line.spent_nano_usd ?? 0), 0n),
    );
    expect(new Set(spent).size).toBe(AGENTS.length);
    expect(spent.reduce((sum, one) => sum + one, 0n)).toBe(sumOf(bill));
    const calls = AGENTS.map((agent) => Number(table[agent]?.at(-3)));
    expect(calls.reduce((sum, one) => sum + one, 0)).toBe(bill.length);
    for (const [at, agent] of AGENTS.entries()) {
      const own = lines().filter((line) => line.agent === agent);
      expect(own).toHaveLength(2);
      expect(table[agent]?.at(-2)).toBe(usdWords(String(spent[at])));
    }
    const { total, assigned } = results.sums();
    expect([total, assigned]).toEqual([sumOf(bill), sumOf(bill)]);
  });
});
