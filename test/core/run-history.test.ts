/** What runs of one job came to, and two of them beside each other. */
import { describe, expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { compareRuns } from '../../core/run/history/compare-runs.ts';
import { jobHistory, type RunWithItems } from '../../core/run/history/job-history.ts';
import type { Outcome } from '../../core/status.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';

const item = (key: string, outcome: Outcome | null, costNanoUsd: number | null = null) =>
  runItemRow(key, { outcome, costNanoUsd, admittedAt: 1_000, endedAt: outcome === null ? null : 3_000 });

const run = (
  id: string,
  planHash: string,
  items: RunWithItems['items'],
  ended: Partial<Record<Outcome, number>> = {},
): RunWithItems => ({
  run: runRow({ runId: runId(id), planHash, createdAt: 1_000, endedAt: 9_000, ended }),
  items,
});

describe('the history of a job', () => {
  it('has cost, time and success of each key, what is flaky first', () => {
    const three = [item('steady', 'succeeded', 10), item('moody', 'failed')];
    const two = [item('steady', 'succeeded', 20), item('moody', 'succeeded', 4)];
    const one = [item('steady', 'succeeded'), item('broken', 'failed')];
    const { runs, keys } = jobHistory(
      [
        run('three', 'p', three, { succeeded: 1, failed: 1 }),
        run('two', 'p', two, { succeeded: 2 }),
        run('one', 'o', one),
      ],
      20_000,
    );
    expect(
      runs.map(({ run: { runId: id }, durationMs, successShare }) => [id, durationMs, successShare]),
    ).toEqual([
      ['three', 8_000, 0.5],
      ['two', 8_000, 1],
      ['one', 8_000, null],
    ]);
    expect(keys.map(({ key, isFlaky, succeeded, ended }) => [key, isFlaky, succeeded, ended])).toEqual([
      ['moody', true, 1, 2],
      ['broken', false, 0, 1],
      ['steady', false, 3, 3],
    ]);
    expect(keys[2]).toMatchObject({ meanNanoUsd: 15, meanMs: 2_000 });
    expect(keys[0]?.outcomes).toEqual([
      { runId: 'three', outcome: 'failed' },
      { runId: 'two', outcome: 'succeeded' },
    ]);
  });

  it.each<[string, boolean, RunWithItems, RunWithItems]>([
    [
      'another work',
      false,
      run('b', 'new', [item('k', 'succeeded')]),
      run('a', 'old', [item('k', 'failed')]),
    ],
    ['a stop', false, run('b', 'p', [item('k', 'succeeded')]), run('a', 'p', [item('k', 'cancelled')])],
    ['open work', false, run('b', 'p', [item('k', null)]), run('a', 'p', [item('k', 'failed')])],
    ['a check', true, run('b', 'p', [item('k', 'check_failed')]), run('a', 'p', [item('k', 'succeeded')])],
  ])('takes %s for flaky: %s', (_name, isFlaky, newer, older) => {
    expect(jobHistory([newer, older], 0).keys[0]?.isFlaky).toBe(isFlaky);
  });
});

describe('two runs', () => {
  it('are compared by key, what is worse first', () => {
    const before = [
      ...[item('a', 'succeeded'), item('b', 'failed'), item('c', 'failed'), item('d', 'succeeded')],
      ...[item('gone', 'failed'), item('open', 'succeeded')],
    ];
    const after = [
      ...[item('a', 'failed'), item('b', 'succeeded'), item('c', 'check_failed'), item('d', 'succeeded')],
      ...[item('new', null), item('open', null)],
    ];
    expect(compareRuns(before, after).map(({ key, verdict }) => `${key} ${verdict}`)).toEqual([
      'a worse',
      'b better',
      'c other',
      'open other',
      'new added',
      'gone removed',
      'd same',
    ]);
  });
});
