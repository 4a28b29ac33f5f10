/** Copies that are judged as one, in a report: its table, its verdict, and a build that is not red for a forgiven copy. */
import { describe, expect, it } from 'vitest';
import { renderJunit } from '../../report/render-junit.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { reportDocument } from '../../report/report-document.ts';
import { workVerdict } from '../../report/report-verdict.ts';
import type { PlanWhole } from '../../core/plan/plan.ts';
import type { Outcome } from '../../core/status.ts';
import { COMPLETE, reportItem } from './report-data.ts';

const copy = (key: string, outcome: Outcome, whole: PlanWhole) => ({
  ...reportItem(key, { outcome }),
  whole,
});
const any = { key: 'solve/1', rule: 'any' } as const;
const majority = { key: 'probe/1', rule: 'majority' } as const;

const items = [
  copy('solve/1', 'check_failed', any),
  copy('solve/2', 'succeeded', any),
  copy('probe/1', 'succeeded', majority),
  copy('probe/2', 'failed', majority),
];
const data = () => {
  const ended = { succeeded: 2, check_failed: 1, failed: 1 } as const;
  return { ...COMPLETE, items, toleratedFailures: 0, run: { ...COMPLETE.run, total: 4, ended, forgiven: 1 } };
};

describe('a report of copies that are judged as one', () => {
  it('says of each item what it came to as a whole', () => {
    const text = renderMarkdown(reportDocument(data()));
    expect(text).toContain('Items as a whole');
    expect(text).toMatch(/solve\/1 +\| +1 +\| +2 +\| any +\| succeeded/);
    expect(text).toMatch(/probe\/1 +\| +1 +\| +2 +\| majority +\| unsuccessful/);
  });

  it('counts no copy that is forgiven', () => {
    expect(workVerdict(data())).toEqual({
      tone: 'bad',
      words: 'Failed: 1 of 4 conversations did not succeed, 1 forgiven: their items succeeded as a whole',
    });
  });

  it('skips a forgiven copy in JUnit, and says why', () => {
    const xml = renderJunit(data());
    expect(xml).toContain('tests="4" failures="0" errors="1" skipped="1"');
    expect(xml).toMatch(
      /name="solve\/1"[^>]*><skipped message="check_failed[^"]*1 of 2 copies succeeded, any: succeeded/,
    );
    expect(xml).toMatch(/name="probe\/2"[^>]*><error [^>]*1 of 2 copies succeeded, majority: unsuccessful/);
  });
});
