/** The law of reports: what is printed for items, ambiguous and unassigned rows is the total of all rows (D27). */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { reportDocument } from '../../report/report-document.ts';
import { renderHtml } from '../../report/html/render-html.ts';
import { renderJsonl } from '../../report/render-jsonl.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import type { ReportData } from '../../report/report-data.ts';
import { formatMicro, nanoUsd, parseUsd, toMicro } from '../../core/money/money.ts';
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

/** Rows of known calls, of calls in a window and of nobody, to conversations of which one item has two. */
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

/** The printed amount and its remainder, as nano-USD. */
function printed(markdown: string, name: string): number {
  const row = markdown.split('\n').find((line) => line.startsWith(`| ${name}`)) ?? '';
  const [, , usd = '', remainder = ''] = row.split('|').map((cell) => cell.trim());
  return Number(parseUsd(usd)) + Number(remainder);
}

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
      const micro = formatMicro(toMicro(nanoUsd(total)).microUsd);
      expect(markdown).toContain(`export | ${micro} |`);
      expect(renderHtml(data)).toContain(`<td class="right">${micro}</td>`);
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
  expect(markdown).toContain('It does not add up: -0.000000001 USD');
});
