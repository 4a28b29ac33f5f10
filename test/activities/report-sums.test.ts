/** The law of reports: what is printed for items, ambiguous and unassigned rows is the total of all rows (D27). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { reportDocument } from '../../report/report-document.ts';
import { renderHtml } from '../../report/html/render-html.ts';
import { renderJsonl } from '../../report/render-jsonl.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { usdWords } from '../../report/report-words.ts';
import type { ReportData } from '../../report/report-data.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { reconcile } from '../../core/reconcile/reconcile.ts';
import { conversationNumber, spendRow } from '../contract/store-rows.ts';
import { COMPLETE, reconciliationOf, reportItem } from './report-data.ts';
import { gatewayRow, START } from './reconcile-world.ts';

const KEYS = ['a', 'b', 'c'];

interface Billed {
  readonly cost: number;
  readonly call: number;
  readonly offsetMs: number;
}

/** Rows of known calls, of calls in a window and of no conversation; one of the items has two conversations. */
function reportOf(billed: readonly Billed[], ambiguous: 'keep' | 'split_by_tokens'): ReportData {
  const gatewayRows = billed.map(({ cost, call, offsetMs }, index) =>
    gatewayRow(index + 1, {
      responseId: call === 0 ? null : `r${call}`,
      cost: nanoUsd(cost),
      startedAt: START + offsetMs,
    }),
  );
  const spendRows = [1, 2, 3, 4].map((number) =>
    spendRow(`c${number}`, {
      sessionId: conversationNumber(number),
      responseId: `r${number}`,
      startedAt: START,
    }),
  );
  const conversations = [...KEYS, 'a'].map((key, index) => ({
    conversationId: conversationNumber(index + 1),
    key,
    tags: {},
    attemptIds: [],
  }));
  const result = reconcile({
    gatewayRows,
    spendRows,
    conversations,
    isForwarding: false,
    windowBeforeMs: 0,
    windowAfterMs: 0,
    ambiguous,
  });
  return {
    ...COMPLETE,
    items: KEYS.map((key) => reportItem(key, { outcome: 'succeeded' })),
    reconciliation: reconciliationOf(result, gatewayRows),
  };
}

/** An amount of the footnote, in nano-USD. */
function printed(text: string, name: string): number {
  const [, amount = ''] = new RegExp(`[+=] ${name}[^|]*\\|+ *(-?[\\d,]+)`).exec(text) ?? [];
  return amount === '' ? NaN : Number(amount.replaceAll(',', ''));
}

/** Cells as in Markdown. */
const bare = (html: string): string => html.replaceAll(/<[^>]*>/g, '|').replaceAll('&#39;', "'");

const rows = fc.array(
  fc.record({
    cost: fc.integer({ min: -5_000, max: 2_000_000_000 }),
    call: fc.integer({ min: 0, max: 6 }),
    offsetMs: fc.integer({ min: -500, max: 6_000 }),
  }),
  { maxLength: 40 },
);

it('items + ambiguous + unassigned = total, in every format and to the nano-dollar', () => {
  fc.assert(
    fc.property(rows, fc.constantFrom('keep' as const, 'split_by_tokens' as const), (billed, ambiguous) => {
      const data = reportOf(billed, ambiguous);
      const total = billed.reduce((sum, { cost }) => sum + cost, 0);
      const markdown = renderMarkdown(reportDocument(data));
      const items = renderJsonl(data)
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { billed_nano_usd: number }).billed_nano_usd);
      const sum = items.reduce((all, one) => all + one, 0);
      expect(sum + printed(markdown, 'ambiguous:') + printed(markdown, 'unassigned:')).toBe(total);
      expect(printed(markdown, 'total of')).toBe(total);
      expect(markdown).toContain('It adds up');
      const html = bare(renderHtml(data));
      for (const name of ['assigned', 'ambiguous:', 'unassigned:', 'total of', 'counted by our proxy'])
        expect(printed(html, name)).toBe(printed(markdown, name));
    }),
    { numRuns: 200 },
  );
});

it('says so when the parts are not the total', () => {
  const data = reportOf([{ cost: 10, call: 1, offsetMs: 0 }], 'keep');
  if (data.reconciliation?.kind !== 'done') throw new Error('no reconciliation');
  const result = { ...data.reconciliation.result, assigned: nanoUsd(9) };
  const markdown = renderMarkdown(
    reportDocument({ ...data, reconciliation: { ...data.reconciliation, result } }),
  );
  expect(markdown).toContain('It does not add up: -1 nano-dollars');
});

it('the outcomes sum to what our proxy counted, and it is said when they do not', () => {
  const markdown = renderMarkdown(reportDocument(COMPLETE));
  const parts = ['Succeeded', 'Check failed', 'Failed'].map((name) => printed(markdown, name));
  expect(parts).toEqual([1_234_567, 500, 0]);
  expect(printed(markdown, 'counted by our proxy')).toBe(1_235_067);
  const off = renderMarkdown(
    reportDocument({ ...COMPLETE, spend: { ...COMPLETE.spend, nanoUsd: 1_235_068 } }),
  );
  expect(off).toContain('It does not add up: 1 nano-dollars are between the outcomes');
});

it.each([
  [0, '$0.00'],
  [999, '< $0.000001'],
  [-999, '> -$0.000001'],
  [1_235_067, '$0.001235'],
  [12_300_000, '$0.0123'],
  [-12_345_678, '-$0.0123'],
  [999_999_999, '$1.0000'],
  [2_310_000_000, '$2.31'],
  ['27021597764222973', '$27,021,597.76'],
])('%s nano-USD are read as %s', (nano, words) => {
  expect(usdWords(nano)).toBe(words);
});
