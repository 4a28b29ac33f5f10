/** Figures of a reconciliation: their numbers are those of the rows, and none is left out because it is zero. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bars } from '../../report/figures/figure-drawing.ts';
import { reportFigures } from '../../report/figures/report-figures.ts';
import type { ReportData } from '../../report/report-data.ts';
import { COMPLETE } from './report-data.ts';

function barsOf(data: ReportData, id: string): Bars['rows'] {
  const found = reportFigures(data).find((figure) => figure.id === id);
  return found?.kind === 'bars' ? found.rows : [];
}

const amounts = (rows: Bars['rows'], side: string): number =>
  rows.filter(({ label }) => label.endsWith(side)).reduce((sum, { value }) => sum + value, 0);

describe('reportFigures() of a reconciliation', () => {
  it.each(['billed-by-model', 'billed-by-tag-team'])('%s holds all that was billed and recorded', (id) => {
    const rows = barsOf(COMPLETE, id);
    const { reconciliation } = COMPLETE;
    const result = reconciliation?.kind === 'done' ? reconciliation.result : null;
    expect(result).not.toBeNull();
    expect(amounts(rows, ': billed')).toBe(Number(result?.assigned) + Number(result?.estimated));
    expect(amounts(rows, ': recorded')).toBe(
      COMPLETE.items.reduce((sum, { spend }) => sum + spend.nanoUsd, 0),
    );
  });

  it('counts what found no match in both directions, zeros included', () => {
    const counts = barsOf(COMPLETE, 'unmatched').map(({ label, value }) => [label, value]);
    const { reconciliation } = COMPLETE;
    const found = reconciliation?.kind === 'done' ? reconciliation.result.counts : null;
    expect(counts).toEqual([
      ['rows that several could have caused', found?.ambiguous],
      ['rows without a conversation', found?.unassigned],
      ['rows that bill a response again', found?.duplicates],
      ['conversations without rows', found?.conversationsWithoutRows],
      ['calls that nobody billed', found?.unbilled],
    ]);
  });

  it('puts every exact pair into one span of the difference of clocks', () => {
    const skews = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(skews, (exactSkewsMs) => {
        const rows = barsOf({ ...COMPLETE, exactSkewsMs }, 'clock-difference');
        expect(rows.length).toBeLessThanOrEqual(8);
        let counted = 0;
        for (const { label, value } of rows) {
          const [from = 0, to = from] = [...label.matchAll(/-?\d+/g)].map(([text]) => Number(text));
          expect(value).toBe(exactSkewsMs.filter((skew) => skew >= from && skew <= to).length);
          counted += value;
        }
        expect(counted).toBe(exactSkewsMs.length);
      }),
    );
  });

  it('are none without a reconciliation, and no clocks without an exact pair', () => {
    const ids = (data: ReportData): readonly string[] => reportFigures(data).map(({ id }) => id);
    expect(ids({ ...COMPLETE, exactSkewsMs: [] })).not.toContain('clock-difference');
    const none = ids({ ...COMPLETE, reconciliation: null, exactSkewsMs: [] });
    expect(none.filter((id) => id.startsWith('billed') || id === 'unmatched')).toEqual([]);
  });
});
