/** The report of a run in a browser: sorting, opening, paper, 390 px, both colours, axe; with and without its script. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { renderHtml } from '../../report/html/render-html.ts';
import type { ReportData } from '../../report/report-data.ts';
import { COMPLETE, INCOMPLETE } from '../activities/report-data.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { openBrowser, picture, WIDE, type Watched } from './browser.ts';
import { findings } from './findings.ts';
import { HOSTILE } from './hostile-texts.ts';
import { batchOf, hostileReport } from './report-batch.ts';

const ALL_MS_MAX = 600_000;
const PHONE = { width: 390, height: 844 } as const;
const KEYS = '#items tbody:not([hidden]):not(.later) .name summary';

interface Opened extends Watched {
  readonly folder: string;
}

async function openReport(data: ReportData, { scripts = true } = {}): Promise<Opened> {
  const folder = tempDir();
  writeFileSync(path.join(folder, 'report.html'), renderHtml(data));
  const watched = await openBrowser(`file://${folder}`, { javaScriptEnabled: scripts });
  onTestFinished(() => watched.close());
  await watched.page.goto(`file://${folder}/report.html`);
  return { ...watched, folder };
}

function pictures(folder: string): string {
  const kept = process.env['PARLEY_CONSOLE_PICTURES'] ?? folder;
  mkdirSync(kept, { recursive: true });
  return kept;
}

/** Evaluated in the page, whose globals are not those of a test. */
const isWiderThanScreen = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

const CLOSED_ROWS = `[...document.querySelectorAll('#items .opened')]
  .filter((row) => getComputedStyle(row).display === 'none').length`;
const TOO_WIDE = `[...document.querySelectorAll('main *')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.outerHTML.slice(0, 120))`;
/** The elements that a report is made of. */
const OURS =
  'HTML HEAD META TITLE STYLE SCRIPT BODY MAIN HEADER FOOTER SECTION ARTICLE H1 H2 H3 P CODE PRE SPAN DIV DL DT DD SMALL SUP A UL LI TABLE THEAD TBODY TR TH TD DETAILS SUMMARY LABEL INPUT BUTTON FIGURE FIGCAPTION svg text rect polygon polyline line';
const MADE = `(() => {
  const ours = new Set('${OURS}'.split(' '));
  const all = [...document.querySelectorAll('*')];
  return {
    foreign: all.filter((one) => !ours.has(one.tagName)).map((one) => one.tagName),
    scripts: document.scripts.length,
    handlers: all.filter((one) => [...one.attributes].some(({ name }) => name.startsWith('on'))).length,
    links: [...document.links].map(({ href }) => href).filter((href) => !href.startsWith('file:')),
    marks: /[\\u202a-\\u202e\\u2066-\\u2069\\u001b]/.test(document.documentElement.outerHTML),
  };
})()`;

describeWith('chromium', 'report.html in a browser', () => {
  it('sorts by a column, both ways, filters, and opens rows', { timeout: ALL_MS_MAX }, async () => {
    const data = batchOf(40);
    const { page, errors, violations, outside } = await openReport(data);
    const keys = () => page.locator(KEYS).allTextContents();
    expect(await keys()).toEqual(data.items.map(({ key }) => key));
    await page.getByRole('button', { name: 'cost' }).click();
    const dear = data.items.toSorted((a, b) => a.spend.nanoUsd - b.spend.nanoUsd).map(({ key }) => key);
    expect(await keys()).toEqual(dear);
    expect(await page.locator('th[aria-sort]').allTextContents()).toEqual(['cost']);
    await page.getByRole('button', { name: 'conversation' }).click();
    expect(await keys()).toEqual(data.items.map(({ key }) => key).toSorted());
    await page.getByRole('button', { name: 'conversation' }).click();
    expect((await keys())[0]).toBe('packages/web/task-38');
    await page.getByLabel('Filter').fill('check failed core');
    expect(await keys()).toEqual(
      ['packages/core/task-39', 'packages/core/task-13', 'packages/core/task-04'].filter((key) =>
        data.items.some((one) => one.key === key && one.row?.outcome === 'check_failed'),
      ),
    );
    await page.getByLabel('Filter').fill('');
    const row = page.locator('#items tbody', { hasText: 'packages/core/task-03' });
    expect(await row.locator('.opened').isVisible()).toBe(false);
    await row.locator('summary').click();
    for (const part of ['Prompt', 'Answer', 'Changes', 'Check: npm test'])
      expect(await row.getByRole('heading', { name: part }).isVisible()).toBe(true);
    await row.locator('summary').click();
    expect(await row.locator('.opened').isVisible()).toBe(false);
    await page.locator('#failures a').first().click();
    expect(await page.locator('#c5 .opened').isVisible()).toBe(true);
    expect({ errors, violations, outside }).toEqual({ errors: [], violations: [], outside: [] });
  });

  it(
    'opens its rows without its script, and shows nothing that would need it',
    { timeout: ALL_MS_MAX },
    async () => {
      const { page } = await openReport(batchOf(40), { scripts: false });
      const row = page.locator('#c3');
      expect(await row.locator('.opened').isVisible()).toBe(false);
      await row.locator('summary').click();
      expect(await row.getByRole('heading', { name: 'Answer' }).isVisible()).toBe(true);
      expect(await page.locator('.filter').isVisible()).toBe(false);
      expect(await page.locator('#items thead button').count()).toBe(0);
      await page.locator('#failures a').first().click();
      expect(await page.locator('#c5 .opened').isVisible()).toBe(true);
      const long = await openReport(batchOf(1_010), { scripts: false });
      expect(await long.page.locator('#c1010 summary').isVisible()).toBe(true);
    },
  );

  it('has nothing that axe finds, in each colour, wide and at 390 px', { timeout: ALL_MS_MAX }, async () => {
    for (const [name, data] of Object.entries({
      batch: batchOf(40),
      complete: COMPLETE,
      incomplete: INCOMPLETE,
    })) {
      const watched = await openReport(data);
      const { page, folder } = watched;
      await page.locator('#items summary').first().click();
      for (const colorScheme of ['light', 'dark'] as const)
        for (const size of [WIDE, PHONE]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize(size);
          expect(await findings(watched), `${name} ${colorScheme} ${size.width}`).toEqual([]);
          expect(await isWiderThanScreen(page), `${name} ${size.width}`).toBe(false);
          const bytes = await picture(page, pictures(folder), `report-${name}-${colorScheme}-${size.width}`);
          expect(bytes).toBeGreaterThan(20_000);
        }
    }
  });

  it('prints every row open on white, and cuts nothing', { timeout: ALL_MS_MAX }, async () => {
    const { page, folder } = await openReport(batchOf(40));
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    // A4 without its margins, at 96 dots an inch.
    await page.setViewportSize({ width: 703, height: 1_017 });
    expect(await page.evaluate(CLOSED_ROWS)).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.evaluate(TOO_WIDE)).toEqual([]);
    await page.emulateMedia({ media: null, colorScheme: null });
    const file = path.join(pictures(folder), 'report.pdf');
    await page.pdf({ path: file, format: 'A4', preferCSSPageSize: true });
    expect(readFileSync(file).subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('shows every hostile text as text', { timeout: ALL_MS_MAX }, async () => {
    const { page, errors, violations, outside } = await openReport(hostileReport());
    await page.evaluate("window.attacked = () => { document.title = 'attacked'; }");
    await page.evaluate("for (const one of document.querySelectorAll('#items summary')) one.click();");
    expect(await page.locator('#items details[open]').count()).toBe(HOSTILE.length);
    await page.getByRole('button', { name: 'conversation' }).click();
    expect(await page.locator('#items tbody').count()).toBe(HOSTILE.length);
    expect(await page.title()).not.toBe('attacked');
    expect(await page.evaluate(MADE)).toEqual({
      foreign: [],
      scripts: 1,
      handlers: 0,
      links: [],
      marks: false,
    });
    expect({ errors, violations, outside }).toEqual({ errors: [], violations: [], outside: [] });
  });

  it(
    'takes ten thousand conversations: a bounded page, the first thousand rows, all of them when asked',
    { timeout: ALL_MS_MAX },
    async () => {
      const data = batchOf(10_000);
      const html = renderHtml(data);
      const bytes = Buffer.byteLength(html);
      // What is beyond is not laid out before the reader opens it.
      expect(html.match(/ class="later"/g)).toHaveLength(9_000);
      const { page, errors } = await openReport(data);
      const rows = page.locator(KEYS);
      expect(await rows.count()).toBe(1_000);
      // A query by role or label reads every element, which costs a minute on this page; the small page is queried so.
      const [cost, filter] = [
        page.locator('#items thead button:text-is("cost")'),
        page.locator('#items-filter'),
      ];
      await cost.click();
      await cost.click();
      const dearest = Math.max(...data.items.map(({ spend }) => spend.nanoUsd));
      expect(data.items.find(({ key }) => key.endsWith('task-9999'))).toBeDefined();
      const first = await rows.first().textContent();
      expect(data.items.find(({ key }) => key === first)?.spend.nanoUsd).toBe(dearest);
      await filter.fill('task-9999');
      expect(await rows.allTextContents()).toEqual(['packages/core/task-9999']);
      await filter.fill('');
      expect(await page.locator('#items-count').textContent()).toBe('the first 1000 of 10000');
      await page.locator('button#items-all:text-is("Show all")').click();
      expect(await rows.count()).toBe(10_000);
      expect(errors).toEqual([]);
      // A fifth of what may be: each text of an item is cut to 400 characters, and says so.
      expect(bytes).toBeLessThan(40_000_000);
      expect(html).toContain('more characters, in <a href="./packages/core/task-9999/changes.patch">');
    },
  );
});
