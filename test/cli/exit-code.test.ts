/** The table of exit codes, row by row: of a run as it stands, and of every kind of error. */
import { describe, expect, it } from 'vitest';
import { exitCodeOfError, exitCodeOfRun } from '../../host/exit-code.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import { SUMMARY } from './fake-host.ts';
import { demoPlan, FINISHED, runRow } from './rows.ts';

const plan = demoPlan();
const tolerant: Plan = { ...plan, tolerate: { failed: 1 } };
const strict: Plan = {
  ...plan,
  reconcile: {
    rows: { from: 'gateway' },
    settleMs: 0,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous: 'keep',
    unmatchedNanoUsdMax: 0,
  },
};
const { reconcile } = strict;
const billed: Plan = {
  ...strict,
  reconcile: reconcile && { ...reconcile, unmatchedNanoUsdMax: null, unbilledMax: 0 },
};
const outside = { ...SUMMARY, withinTolerance: false };

describe('exitCodeOfRun()', () => {
  it.each<[string, Partial<RunRow>, Plan | null, number]>([
    ['all succeeded', FINISHED, plan, 0],
    ['one failed', { ...FINISHED, ended: { succeeded: 1, failed: 1 } }, plan, 1],
    ['one failed, which is tolerated', { ...FINISHED, ended: { succeeded: 1, failed: 1 } }, tolerant, 0],
    ['a check failed', { ...FINISHED, ended: { succeeded: 1, check_failed: 1 } }, plan, 1],
    ['cancelled', { ...FINISHED, ended: { cancelled: 2 } }, tolerant, 1],
    ['drained', { mode: 'draining', inFlight: 0 }, plan, 3],
    ['paused by the breaker', { mode: 'paused', reason: 'breaker', inFlight: 0 }, plan, 3],
    ['still reconciling', { ...FINISHED, phase: 'reconciling', endedAt: null }, plan, 3],
    ['outside tolerance', { ...FINISHED, reconciliation: outside }, strict, 7],
    ['within tolerance', { ...FINISHED, reconciliation: SUMMARY }, strict, 0],
    ['without a bound', { ...FINISHED, reconciliation: { ...SUMMARY, withinTolerance: null } }, strict, 0],
    ['a bound that could not be checked', FINISHED, strict, 7],
    ['a bound on unbilled calls that could not be checked', FINISHED, billed, 7],
    [
      'failed and outside: the failure counts',
      { ...FINISHED, ended: { failed: 2 }, reconciliation: outside },
      strict,
      1,
    ],
    ['no plan known', FINISHED, null, 0],
  ])('%s', (_name, row, known, code) => {
    expect(exitCodeOfRun(runRow(row), known)).toBe(code);
  });
});

describe('exitCodeOfError()', () => {
  it.each([
    ['unauthorized', 4],
    ['forbidden', 4],
    ['data_directory_locked', 5],
    ['store_unavailable', 5],
    ['export_unavailable', 5],
    ['config_invalid', 2],
    ['plan_invalid', 2],
    ['run_exists', 2],
    ['not_found', 2],
    ['collect_failed', 1],
    ['seal_broken', 2],
    ['internal', 70],
  ] as const)('%s is %i', (code, exitCode) => {
    expect(exitCodeOfError(code)).toBe(exitCode);
  });
});
