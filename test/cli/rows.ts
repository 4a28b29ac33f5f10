/**
 * Rows and plans of a made-up run for the tests of the command line.
 * Owns defaults only; a test names what it is about.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { conversationId, runId, sandboxId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { sha256 } from '../../host/job/job-file.ts';

export const RUN = 'demo-20260102t030405-abcd';
/** 2026-01-02T03:04:05Z */
export const START = Date.UTC(2026, 0, 2, 3, 4, 5);

export const JOB = `kind: job
version: 1
name: demo
defaults: { model: coder }
conversations:
  - id: first
    prompt: Do the first thing.
  - id: second
    prompt: Do the second thing.
report:
  - { to: report.md }
`;

export function demoPlan(text = JOB): Plan {
  const { plan } = compileJob(
    { path: 'job.yaml', text },
    { readFile: () => ({ problem: 'missing' }), sha256 },
  );
  if (plan === null) throw new Error('Cannot plan the demo: it has errors');
  return plan;
}

export function runRow(change: Partial<RunRow> = {}): RunRow {
  return {
    table: 'run',
    generation: 1,
    sequence: 1,
    runId: runId(RUN),
    name: 'demo',
    planHash: demoPlan().hash,
    phase: 'running',
    mode: 'normal',
    reason: null,
    total: 2,
    waiting: 1,
    inFlight: 1,
    ended: {},
    spentNanoUsd: 1_234_567,
    createdAt: START,
    endedAt: null,
    reconciliation: null,
    ...change,
  };
}

export const FINISHED: Partial<RunRow> = {
  phase: 'finished',
  waiting: 0,
  inFlight: 0,
  ended: { succeeded: 2 },
  endedAt: START + 65_000,
};

export function itemRow(key: string, change: Partial<RunItemRow> = {}): RunItemRow {
  return {
    table: 'run_item',
    generation: 1,
    sequence: 1,
    runId: runId(RUN),
    key,
    phase: 'working',
    attempt: 1,
    conversationId: conversationId('11111111222233334444555555555555'),
    sandboxId: sandboxId('aaaaaaaabbbbccccddddeeeeeeeeeeee'),
    sandboxStatus: 'RUNNING',
    executionStatus: 'RUNNING',
    outcome: null,
    failureClass: null,
    detail: null,
    costNanoUsd: 617_284,
    admittedAt: START,
    endedAt: null,
    ...change,
  };
}

export const SUCCEEDED: Partial<RunItemRow> = {
  phase: 'ended',
  outcome: 'succeeded',
  executionStatus: 'FINISHED',
  endedAt: START + 60_000,
};

/** The text of a golden file below test/golden/cli, written anew with UPDATE_GOLDEN=1. */
export const GOLDEN_FOLDER = path.join(import.meta.dirname, '../golden/cli');

export function golden(name: string): string {
  return readFileSync(path.join(GOLDEN_FOLDER, name), 'utf8');
}
