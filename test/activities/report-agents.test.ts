/** A batch of several agents in a report: one line each, by success, time and cost; a batch of one has none. */
import { expect, it } from 'vitest';
import { renderJsonl } from '../../report/render-jsonl.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { reportDocument } from '../../report/report-document.ts';
import type { ReportItem } from '../../report/report-data.ts';
import { COMPLETE, reportItem } from './report-data.ts';

const item = (key: string, agent: string | null, seconds: number, nanoUsd: number, outcome = 'succeeded') => {
  const row = { outcome: outcome as 'succeeded', admittedAt: 0, endedAt: seconds * 1_000 };
  const spend = { calls: 2, nanoUsd };
  return { ...reportItem(key, row, spend), ...(agent === null ? {} : { agent }) };
};
const said = (items: readonly ReportItem[]): string =>
  renderMarkdown(reportDocument({ ...COMPLETE, items, run: { ...COMPLETE.run, total: items.length } }));

it('compares agents by success, time and cost', () => {
  const text = said([
    item('a', 'opencode', 10, 3_000_000),
    item('b', 'opencode', 30, 1_000_000),
    item('c', 'opencode', 90, 2_000_000, 'check_failed'),
    item('d', 'codex', 60, 5_000_000),
    item('e', null, 61, 1, 'failed'),
  ]);
  const cells = (agent: string): readonly string[] => {
    const line = text.split('\n').find((one) => one.startsWith(`| ${agent}`)) ?? '';
    return line.split('|').map((cell) => cell.trim());
  };
  expect(text).toContain('Agents compared');
  expect(cells('opencode').slice(1, -1)).toEqual([
    ...['opencode', 'coder', '3', '2 (67 %)', '30 s', '6', '$0.006000', '$0.003000'],
  ]);
  expect(cells('codex').slice(3, 6)).toEqual(['1', '1 (100 %)', '1 min 0 s']);
  expect(cells("the deployment's").slice(4, -1)).toEqual([
    '0 (0 %)',
    '1 min 1 s',
    '2',
    '&lt; $0.000001',
    '-',
  ]);
});

it('says nothing of a batch of one agent, and names it in JSON lines', () => {
  const items = [item('a', 'opencode', 10, 1), item('b', 'opencode', 10, 1)];
  expect(said(items)).not.toContain('Agents compared');
  const lines = renderJsonl({ ...COMPLETE, items })
    .trim()
    .split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { readonly agent?: string }).agent)).toEqual([
    'opencode',
    'opencode',
  ]);
});
