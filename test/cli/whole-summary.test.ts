/** Copies that are judged as one, where a command says what its run came to: the summary, and the exit code. */
import { describe, expect, it } from 'vitest';
import { EXIT, exitCodeOfRun } from '../../host/exit-code.ts';
import { runRecord } from '../../host/records.ts';
import { runSummary } from '../../cli/print/run-summary.ts';
import { item, plan } from '../conformance/script-parts.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';

const whole = { key: 'item-0', rule: 'majority' } as const;
const planned = plan(3, { items: [0, 1, 2].map((at) => item(at, { whole })) });
const outcomes = ['succeeded', 'succeeded', 'failed'] as const;
const items = outcomes.map((outcome, at) => runItemRow(`item-${at}`, { phase: 'ended', outcome }));
const row = runRow({
  phase: 'finished',
  total: 3,
  waiting: 0,
  inFlight: 0,
  ended: { succeeded: 2, failed: 1 },
  endedAt: 1_700_000_900_000,
});

describe('a run of copies that are judged as one', () => {
  const forgiving = { ...row, forgiven: 1 };

  it('ends well where the item as a whole did', () => {
    expect(exitCodeOfRun(row, planned)).toBe(EXIT.failed);
    expect(exitCodeOfRun(forgiving, planned)).toBe(EXIT.ok);
  });

  it('is told as items as a whole, and what is forgiven as a count', () => {
    const said = { items, plan: planned, results: 'out', deliveries: [], evidence: [], next: null };
    const text = runSummary({ ...said, row: forgiving });
    expect(text).toMatch(/item as a whole +succeeded +rule +outcome/);
    expect(text).toMatch(/item-0 +2\/3 +majority +succeeded/);
    expect(runRecord(forgiving)).toMatchObject({ forgiven: 1, ended: { failed: 1 } });
    expect(runRecord(row)).not.toHaveProperty('forgiven');
  });
});
