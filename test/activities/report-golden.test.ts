/**
 * What reports look like, as files in test/golden/report/.
 * `UPDATE_GOLDEN=1 npx vitest run test/activities/report-golden` writes them anew; they are never edited by hand.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportDocument } from '../../report/report-document.ts';
import { renderHtml } from '../../report/html/render-html.ts';
import { renderJsonl } from '../../report/render-jsonl.ts';
import { renderJunit } from '../../report/render-junit.ts';
import { workVerdict } from '../../report/report-verdict.ts';
import { renderMarkdown } from '../../report/render-markdown.ts';
import { COMPLETE, HOSTILE, INCOMPLETE, UNRECONCILED } from './report-data.ts';

const FOLDER = path.resolve(import.meta.dirname, '../golden/report');

describe('golden reports', () => {
  it.each([
    ['complete.md', renderMarkdown(reportDocument(COMPLETE))],
    ['complete.html', renderHtml(COMPLETE)],
    ['complete.jsonl', renderJsonl(COMPLETE)],
    ['complete.xml', renderJunit(COMPLETE)],
    ['incomplete.xml', renderJunit(INCOMPLETE)],
    ['incomplete.md', renderMarkdown(reportDocument(INCOMPLETE))],
    ['incomplete.html', renderHtml(INCOMPLETE)],
    ['unreconciled.md', renderMarkdown(reportDocument(UNRECONCILED))],
  ])('%s', (name, text) => {
    const file = path.join(FOLDER, name);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, 'utf8'));
  });
});

describe('what was not needed', () => {
  const detail = 'it is for a failure of "build", which succeeded';
  const items = COMPLETE.items.slice(0, 1).map((item) => ({
    ...item,
    row: item.row && { ...item.row, outcome: 'not_needed' as const, failureClass: null, detail },
  }));
  const run = { ...COMPLETE.run, total: 2, ended: { succeeded: 1, not_needed: 1 } };

  it('is a success of the run, and a skipped test with its reason', () => {
    expect(workVerdict({ ...COMPLETE, run, toleratedFailures: 0 })).toEqual({
      words: 'Succeeded: 1 of 2 conversations, 1 not needed',
      tone: 'good',
    });
    const xml = renderJunit({ ...COMPLETE, run, items });
    expect(xml).toContain('<skipped message=');
    expect(xml).toContain('it is for a failure of &quot;build&quot;, which succeeded');
    expect(renderMarkdown(reportDocument({ ...COMPLETE, run, items }))).toContain('which succeeded');
    expect(renderJsonl({ ...COMPLETE, run, items })).toContain('"not_needed"');
  });
});

describe('renderHtml()', () => {
  const html = renderHtml(COMPLETE);

  it('needs nothing else, and runs one script that its policy names by its hash', () => {
    const scripts = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text = '']) => text);
    const hash = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
    expect(scripts).toHaveLength(1);
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(html) ?? [];
    expect(html).toContain(
      `default-src 'none'; style-src '${hash(style)}'; script-src '${hash(scripts[0] ?? '')}'`,
    );
    const bare = html.replace(/<script>[^]*<\/script>/, '');
    expect(bare).not.toMatch(/<(script|link|img|iframe|object|embed|form)\b/i);
    expect(bare).not.toMatch(/<[^>]*\s(src|srcset|style|on\w+)\s*=/i);
    expect(html).not.toMatch(/url\(|@import|https?:/i);
    for (const [, href] of html.matchAll(/href="([^"]*)"/g))
      expect(href).toMatch(/^(?:\.\/[A-Za-z0-9._~%/-]+|#(?:c\d+|sum))$/);
  });

  it('says what differs from the last run, and of a first one that it is the first', () => {
    expect(html).toContain('1 fewer than in the last run: 2 of 3');
    expect(html).toContain('$0.000765 less (\u221238 %) than the last run; 3 unpriced');
    expect(html).toContain('30 s longer (+30 %) than the last run');
    const first = renderHtml({ ...COMPLETE, last: null });
    expect(first).toContain('First run of this job');
    expect(first).not.toContain('than the last run');
    expect(renderHtml(INCOMPLETE)).toContain('the run goes on');
  });

  it('is whole without a single conversation', () => {
    const none = { ...COMPLETE, run: { ...COMPLETE.run, total: 0, ended: {} }, items: [] };
    expect(renderHtml(none)).toContain('0 of 0');
  });

  it('shows hostile text as text', () => {
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html).not.toContain('\u202E');
  });
});

describe('renderMarkdown()', () => {
  it('lets no text become markup, a row or a heading', () => {
    const markdown = renderMarkdown(reportDocument(COMPLETE));
    expect(markdown).not.toContain('<script');
    expect(markdown).not.toContain('[x](');
    expect(markdown.split('\n').filter((line) => line.startsWith('# '))).toHaveLength(1);
    const widths = markdown
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split(/(?<!\\)\|/).length);
    expect(new Set(widths)).toEqual(new Set([4, 5, 6, 7, 14]));
  });
});

it('JSON lines hold the text as it is', () => {
  const rows = renderJsonl(COMPLETE)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { detail: string | null; spent_nano_usd: number | null });
  expect(rows[2]).toMatchObject({ detail: HOSTILE, spent_nano_usd: null });
});
