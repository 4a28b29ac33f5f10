/** The report of a run as a page of the console, in headless Chromium: what it says, and that no text of it acts. */
import { expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { HOSTILE } from './hostile-texts.ts';
import { HOSTILE_RUN, leaveHostileRun } from './hostile-run.ts';
import { openPageWorld } from './page-world.ts';
import { ITEMS, leavePastRuns, PAST } from './past-runs.ts';

const ALL_MS_MAX = 600_000;

describeWith('chromium', 'the report of a run in the console', () => {
  it(
    'says what its file says: sums against the last run, failures, items that open, charts, an exact footnote',
    async () => {
      const { service, page, open, watched } = await openPageWorld();
      await leavePastRuns(service);
      await open(`runs/${PAST.second}`);
      await page.getByRole('link', { name: 'Report', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: `Report of ${PAST.job}` }).waitFor();

      const sums = page.getByRole('region', { name: 'Sums' });
      await sums.getByText(new RegExp(`^${ITEMS - 3} of ${ITEMS}`)).waitFor();
      await sums.getByText(`as many as in the last run: ${ITEMS - 3} of ${ITEMS}`).waitFor();
      await page.getByText(`Failed: 3 of ${ITEMS} conversations did not succeed`).waitFor();
      const failures = page.getByRole('region', { name: 'What failed' });
      expect(await failures.getByRole('heading', { level: 3 }).allTextContents()).toEqual([
        'moody',
        'item-049',
        'item-099',
      ]);
      const order = await page.locator('main section > h2').allTextContents();
      const at = ['What failed 3', 'Items', 'Charts', 'To the nano-dollar'].map((one) => order.indexOf(one));
      expect(at).toEqual(at.toSorted((a, b) => a - b));
      expect(at).not.toContain(-1);

      const items = page.getByRole('region', { name: 'Items' });
      await items.getByRole('button', { name: 'moody' }).click();
      const work = page.getByLabel('Work of moody');
      for (const part of ['Prompt', 'Answer', 'Output of the check', 'Changes'])
        await work.getByRole('heading', { name: part, exact: true }).waitFor();
      await work.getByText('two tests <b>fail</b>').waitFor();

      const chart = page.getByRole('img', { name: /^Outcomes and failure classes: / });
      expect(await chart.locator('rect').count()).toBeGreaterThan(1);
      await page.getByRole('link', { name: 'Footnote 1: to the nano-dollar' }).click();
      const footnote = page.getByRole('region', { name: 'To the nano-dollar' });
      await footnote.getByText('It adds up: the outcomes sum to what our proxy counted').waitFor();
      await page.getByRole('heading', { level: 1, name: `Report of ${PAST.job}` }).waitFor();

      await page.emulateMedia({ media: 'print' });
      expect(await page.getByRole('navigation').first().isVisible()).toBe(false);
      expect(await footnote.isVisible()).toBe(true);
      await page.emulateMedia({ media: null });
      await page.getByRole('link', { name: PAST.first }).click();
      await page.getByRole('heading', { name: 'Two runs compared' }).waitFor();
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'keeps every hostile text a text: outcome, reason, prompt, answer, check, changes, model and tag',
    async () => {
      const { service, page, open, watched } = await openPageWorld();
      await leaveHostileRun(service);
      await page.addInitScript({ content: "window.attacked = () => { document.title = 'attacked'; };" });
      await open(`runs/${HOSTILE_RUN}/report`);
      const failures = page.getByRole('region', { name: 'What failed' });
      await failures.getByText('<script>attacked(1)</script>').first().waitFor();
      const failed = HOSTILE.filter((_, index) => index % 3 !== 2).length;
      await failures.getByText(String(failed), { exact: true }).waitFor();
      expect(await failures.locator('article').count()).toBe(50);
      const items = page.getByRole('region', { name: 'Items' });
      const buttons = items.locator('tbody th button');
      await buttons.first().waitFor();
      for (let index = 0; index < (await buttons.count()); index += 5) {
        await buttons.nth(index).click();
        const work = page.getByRole('region', { name: /^Work of item-/ });
        await work.getByRole('heading', { name: 'Changes' }).waitFor();
      }
      const foreign = await page.evaluate(
        "[...document.querySelectorAll('main iframe, main script, main img, main object, main embed, main form, main video, main marquee, main style, main link, main base')].length",
      );
      expect(foreign).toBe(0);
      const links = await page.evaluate(
        "[...document.querySelectorAll('main a')].map(({ href }) => href).filter((href) => !href.startsWith(location.origin + '/console/'))",
      );
      expect(links).toEqual([]);
      expect(await page.title()).not.toBe('attacked');
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );
});
