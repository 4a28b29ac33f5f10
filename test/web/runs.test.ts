/** Runs in headless Chromium: one is written, priced, begun and steered, others are searched and compared. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { reportNow } from '../../activities/report-run.ts';
import { runId } from '../../core/ids.ts';
import { ROOT } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { openPageWorld } from './page-world.ts';
import { ITEMS, leavePastRuns, PAST } from './past-runs.ts';

const ALL_MS_MAX = 600_000;
/** What a first visit loads, packed. */
const FIRST_BYTES_MAX = 200_000;

const JOB = `kind: job
version: 1
name: nightly
defaults: { model: coder, limits: { usd: 0.50 } }
admission: { concurrency: 2 }
conversations:
  - { id: one, prompt: Write a note. }
  - { id: two, prompt: Write another. }
`;

describeWith('chromium', 'runs', () => {
  it(
    'are written in an editor, priced before they begin, and steered',
    async () => {
      const { service, page, open, watched } = await openPageWorld();
      service.agent.outcome = 'RUNNING';
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
      const give = (text: string) =>
        page
          .getByLabel('Open a file')
          .setInputFiles({ name: 'job.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
      await open('runs');
      await page.getByRole('link', { name: 'Start a run' }).waitFor();
      const isEditor = (address: string): boolean => address.includes('job-editor');
      expect(watched.addresses.some(isEditor)).toBe(false);
      await page.getByRole('link', { name: 'Start a run' }).click();
      const editor = page.getByRole('textbox', { name: 'Job file' });
      await editor.getByText('look-around').waitFor();
      expect(watched.addresses.some(isEditor)).toBe(true);

      await give(JOB.replace('model: coder', 'modle: coder'));
      const findings = page.getByRole('region', { name: 'Findings' });
      await findings.getByText('Line 4, column 13: unknown key "modle"').waitFor();
      await page.locator('.cm-lintRange-error').first().waitFor();
      expect(await page.getByRole('button', { name: /^Start the run/ }).count()).toBe(0);

      await give(JOB);
      const plan = page.getByRole('region', { name: 'Plan' });
      await plan.getByText('at most $1.00').waitFor();
      await plan.getByText('coder 2').waitFor();
      await editor.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('  - { id: three, prompt: Write a third. }');
      await plan.getByText('at most $1.50').waitFor();
      await page.getByRole('button', { name: 'Start the run, at most $1.50' }).click();
      await heading('nightly');

      const items = page.getByRole('region', { name: 'Items' });
      await items.getByRole('button', { name: 'three' }).waitFor();
      await button('Set concurrency').click();
      await page.getByLabel('Concurrency').fill('3');
      await button('Set').click();
      await page
        .getByRole('region', { name: 'What happened' })
        .getByText(/concurrency/)
        .first()
        .waitFor();
      await button('Pause').click();
      await button('Resume').click();
      await button('Drain').waitFor();
      await items.getByRole('button', { name: 'two' }).click();
      await page.getByLabel('Work of two').getByText('Write another.').waitFor();
      await button('Cancel item').click();
      await button('Requeue item').waitFor();
      service.agent.outcome = 'FINISHED';
      await button('Requeue item').click();
      const row = items.getByRole('row', { name: /two/ }).first();
      await row.getByText('Succeeded').waitFor();
      await button('Cancel run').click();
      await page.getByRole('dialog').getByText('that wait never begin').waitFor();
      await button('Cancel the run').click();
      await page.locator('.page-head').getByText('Finished').waitFor();
      await button('Requeue item').waitFor({ state: 'detached' });
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'are drained: the timeline shows who goes on and who does not begin before they are resumed',
    async () => {
      const { service, page, open, watched } = await openPageWorld();
      service.agent.outcome = 'RUNNING';
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      await open('start-run');
      const text = `${JOB}  - { id: three, prompt: Write a third. }\n`;
      await page
        .getByLabel('Open a file')
        .setInputFiles({ name: 'job.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
      await page.getByRole('button', { name: 'Start the run, at most $1.50' }).click();
      await page.getByRole('img', { name: /^3 items over/ }).waitFor();
      const bar = (key: string) => page.locator('.timeline-bar').filter({ hasText: key });
      const shows = (key: string, bars: number, isOpen: boolean) =>
        expect
          .poll(
            async () => [
              await bar(key).locator('rect').count(),
              (await bar(key).getAttribute('class'))?.includes('timeline-open'),
            ],
            { timeout: 60_000 },
          )
          .toEqual([bars, isOpen]);
      for (const key of ['one', 'two']) await shows(key, 1, true);
      await shows('three', 0, false);

      await button('Drain').click();
      await page.locator('.page-head').getByText('Draining').waitFor();
      const items = page.getByRole('region', { name: 'Items' });
      await items.getByRole('button', { name: 'one' }).click();
      await button('Cancel item').click();
      // Its place is free, and no conversation takes it; what is at work goes on.
      await shows('one', 1, false);
      await shows('two', 1, true);
      await shows('three', 0, false);
      expect(await bar('three').locator('title').textContent()).toBe('three: Waiting');
      await button('Resume').click();
      await shows('three', 1, true);
      await shows('two', 1, true);
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'are searched by the server beyond one page, opened item by item, and compared',
    async () => {
      const { service, page, open, watched } = await openPageWorld();
      await leavePastRuns(service);
      await open(`runs/${PAST.second}`);
      const items = page.getByRole('region', { name: 'Items' });
      const first = items.getByRole('row').nth(1);
      const shows = (name: string) => first.getByRole('button', { name, exact: true }).waitFor();
      await items.getByRole('button', { name: 'moody' }).waitFor();
      await items.getByRole('button', { name: 'Cost' }).click();
      await items.getByRole('button', { name: 'Cost' }).click();
      await shows(`item-${ITEMS - 1}`);
      await first.getByText('$0.1200').waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await shows('item-069');
      await page.getByRole('button', { name: 'Next' }).click();
      await shows('item-019');
      expect(await items.getByRole('row').count()).toBe(1 + ITEMS - 100);

      await items.getByLabel('Outcome').selectOption('failed');
      await shows('item-099');
      expect(await items.getByRole('row').count()).toBe(1 + 3);
      await items.getByLabel('Model').fill('small');
      await items.getByLabel('Tag (name=value)').fill('shard=9');
      await items.getByLabel('Key contains').fill('49');
      await shows('item-049');
      await items.getByLabel('Key contains').fill('nothing');
      await items.getByText('No item is so.').waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();

      await items.getByLabel('Key contains').fill('moody');
      await items.getByRole('button', { name: 'moody' }).click();
      const work = page.getByLabel('Work of moody');
      await work.getByText('Do number 0.').waitFor();
      await work.getByText('two tests <b>fail</b>').waitFor();
      await work.getByText('+new').waitFor();

      await page.getByRole('link', { name: 'History of the job' }).click();
      await page.getByText(`${ITEMS} items in the last 2 runs, 1 of them flaky`).waitFor();
      const moody = page.getByRole('row', { name: /^moody/ });
      await moody.getByText('Failed, Succeeded').waitFor();
      await moody.getByText('Flaky').waitFor();
      await page.getByRole('link', { name: 'with the one before' }).click();
      await page.getByText(`1 worse, ${ITEMS - 1} same`).waitFor();
      const worse = page.getByRole('region', { name: 'Items' }).getByRole('row').nth(1);
      expect(await worse.innerText()).toMatch(/moody\s+Worse\s+Succeeded\s+Failed/);
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'hand out the report that a run has left, as it was written',
    async () => {
      const { service, page, open, watched } = await openPageWorld();
      await leavePastRuns(service);
      await reportNow(service.world, runId(PAST.second));
      await open(`runs/${PAST.second}`);
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download report.html' }).click();
      const download = await saved;
      expect(download.suggestedFilename()).toBe(`${PAST.second}-report.html`);
      const html = readFileSync(await download.path(), 'utf8');
      expect(html).toMatch(/^<!doctype html>/);
      expect(html).toContain(`Compared with the last run, <code>${PAST.first}</code>`);
      expect(html).toContain('two tests &lt;b&gt;fail&lt;/b&gt;');
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it('cost a first visit at most 200 kB: editor, colours and comparison are loaded when they are opened', () => {
    const folder = path.join(ROOT, 'dist/web');
    const html = readFileSync(path.join(folder, 'index.html'), 'utf8');
    const named = [...html.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name = '']) => name);
    expect(named.some((name) => name.endsWith('.js'))).toBe(true);
    const sizes = [html, ...named.map((name) => readFileSync(path.join(folder, name)))];
    const bytes = sizes.reduce((sum, one) => sum + gzipSync(one).byteLength, 0);
    console.log(`first visit: ${bytes} bytes packed`);
    expect(bytes).toBeLessThan(FIRST_BYTES_MAX);
    expect(named.join(' ')).not.toMatch(/job-editor|spend-chart/);
    expect(readdirSync(path.join(folder, 'assets')).some((name) => name.startsWith('job-editor'))).toBe(true);
  });
});
