/** A job is played in headless Chromium before it is run: its picture, its figures, and what is said when there is none. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import type { JobSimulation, JobSimulator } from '../../api/jobs/job-simulator.ts';
import { playJob, simulationOf } from '../../cli/simulate/job-play.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Deployment } from '../../ports/deployment.ts';
import { ROOT } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { lastingTempDir } from './lasting-temp-dir.ts';
import { picture } from './browser.ts';
import { findings } from './findings.ts';
import { HOSTILE } from './hostile-texts.ts';
import { calmest, LONG_TASK_MS_MAX, observe } from './observed.ts';
import { openPageWorld } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const PHONE = { width: 390, height: 844 } as const;
const WIDE = { width: 1360, height: 900 } as const;
/** Smaller ones are blank. */
const PICTURE_BYTES_MIN = 20_000;

const DEPLOYMENT: Pick<Deployment, 'limits' | 'capacity' | 'onFull' | 'grouping' | 'pollMs'> = {
  limits: { idleTimeMs: 1_200_000, deletionTimeMs: 864_000_000 },
  capacity: { installationMax: 100, userMax: 10, conversationsPerSandboxMax: 20 },
  ...{ onFull: 'refuse', grouping: 'NO_GROUPING', pollMs: 5_000 },
};

const THREE_HUNDRED = readFileSync(path.join(ROOT, 'examples/three-hundred/job.yaml'), 'utf8').replace(
  'model: writer',
  'model: coder',
);

function played(text: string): JobSimulation {
  const job = { text, inputs: {}, models: ['coder'], deployment: DEPLOYMENT, seed: 1 };
  return simulationOf(playJob(job, () => true));
}

async function give(page: Page, text: string): Promise<void> {
  await page
    .getByLabel('Open a file')
    .setInputFiles({ name: 'job.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
}

const partsOf = (page: Page) => {
  const timeline = page.getByRole('region', { name: 'Timeline' });
  return {
    timeline,
    simulate: timeline.getByRole('button', { name: /^Simulate/ }),
    stack: timeline.getByRole('img', { name: /^\d+ conversations by what they do/ }),
    slots: timeline.getByRole('img', { name: /^Sandboxes in use/ }),
  };
};

/** Plain answers, whatever is asked. */
function answering(simulate: JobSimulator['simulate']): JobSimulator {
  return { simulate, page: () => Promise.resolve('<!doctype html>') };
}

describeWith('chromium', 'the timeline of a job that was not run', () => {
  it(
    'shows the example of three hundred with the figures of the command line, and grows old with the text',
    async () => {
      const world = await openPageWorld({ deployment: DEPLOYMENT });
      const { page, open, watched } = world;
      const expected = played(THREE_HUNDRED);
      const { timeline, simulate, stack, slots } = partsOf(page);
      await open('start-run');
      await give(page, THREE_HUNDRED);
      await page.getByRole('region', { name: 'Plan' }).getByText('coder 300').waitFor();
      const isPicture = (address: string): boolean => /simulation-view|plot-/.test(address);
      expect(watched.addresses.some(isPicture)).toBe(false);

      await simulate.click();
      await stack.waitFor();
      expect(watched.addresses.some(isPicture)).toBe(true);
      expect(await stack.getAttribute('aria-label')).toMatch(
        /^300 conversations by what they do, over \d+ h/,
      );
      expect(await slots.getAttribute('aria-label')).toBe(
        'Sandboxes in use over the same time: 10 at most, of 10 allowed',
      );
      const figures = await timeline.locator('dl').innerText();
      expect(figures).toMatch(/10\s+of 10 allowed/);
      expect(figures).toContain(`$${(expected.cost_nano_usd / 1e9).toFixed(2)}`);
      expect(figures).toContain(`Succeeded ${expected.ended['succeeded']}`);
      expect(figures).toContain(`${expected.met['capacity']} wait for a free sandbox`);

      await stack.hover();
      await timeline.getByText(/^After \d+ h.* · waiting \d+ .*sandboxes 10$/).waitFor();
      await timeline.getByText('The timeline, as figures').click();
      const cells = await timeline.getByRole('row').allInnerTexts();
      expect(cells).toHaveLength(1 + 21);
      expect(cells.at(-1)).toMatch(/\s0\s+0\s+0\s+0\s+300\s+\d+$/);
      for (const row of cells.slice(1)) {
        const counts = row.trim().split(/\s+/).slice(-6, -1).map(Number);
        const sum = counts.reduce((all, one) => all + one, 0);
        expect(sum).toBe(300);
      }

      const saved = page.waitForEvent('download');
      await timeline.getByRole('button', { name: 'Download simulation.html' }).click();
      const download = await saved;
      expect(download.suggestedFilename()).toBe('three-hundred-simulation.html');
      expect(readFileSync(await download.path(), 'utf8')).toContain(expected.hash);

      await give(page, THREE_HUNDRED.replace('rivers,\n', ''));
      await timeline.getByText('The job has changed since').waitFor();
      await page.getByRole('region', { name: 'Plan' }).getByText('coder 285').waitFor();
      expect(await stack.getAttribute('aria-label')).toMatch(/^300 /);
      await simulate.click();
      await timeline.getByRole('img', { name: /^285 conversations/ }).waitFor();
      expect(await timeline.getByText('The job has changed since').count()).toBe(0);
      await give(page, 'kind: job\n');
      await timeline.getByText('The job has changed since').waitFor();
      await expect.poll(() => simulate.isDisabled()).toBe(true);
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'has nothing for axe to find, in light and dark, wide and at 390 px, and is drawn in the colours of each',
    async () => {
      const world = await openPageWorld({ deployment: DEPLOYMENT });
      const { page, open } = world;
      const { timeline, simulate, stack } = partsOf(page);
      await open('start-run');
      await give(page, THREE_HUNDRED);
      await simulate.click();
      await stack.waitFor();
      await timeline.getByText('The timeline, as figures').click();
      const folder = pictures();
      const found: string[] = [];
      const drawn = new Set<string>();
      for (const colorScheme of ['light', 'dark'] as const)
        for (const size of [WIDE, PHONE]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize(size);
          const name = `${colorScheme}-${size.width}`;
          found.push(...(await findings(world)).map((one) => `${name}: ${one}`));
          expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
            size.width,
          );
          expect(await picture(page, folder, `simulation-${name}`)).toBeGreaterThan(PICTURE_BYTES_MIN);
          drawn.add(String(await page.evaluate(GROUND)));
        }
      expect(found).toEqual([]);
      // Done, at the right below, and waiting, at the left above, are in other colours in the dark.
      expect(drawn.size).toBe(2);
      expect([...drawn].join()).not.toContain('0,0,0,0');
    },
    ALL_MS_MAX,
  );

  it(
    'says what is wrong, is stopped by who waits for it, and says what is cut off or cannot be played',
    async () => {
      const first = played(THREE_HUNDRED);
      const answers: (() => Promise<JobSimulation>)[] = [
        () => Promise.reject(new ParleyError('out_of_resources', 'Cannot simulate: it needs more memory')),
        () => new Promise<JobSimulation>(() => undefined),
        () =>
          Promise.resolve({
            ...first,
            cut_at_ms: 7_200_000,
            makespan_ms: null,
            left_out: ['ask/*'],
            left_out_count: 3,
          }),
        () => Promise.resolve({ ...first, conversations: 0, ended: {}, activities: [], slots: [] }),
      ];
      let isLeft = false;
      const simulator = answering((_job, signal) => {
        signal.addEventListener('abort', () => (isLeft = true));
        const [next] = answers;
        // A client tries again what a service has no room for.
        if (answers.length < 4) answers.shift();
        return next?.() ?? Promise.reject(new Error('nobody asks so often'));
      });
      const { page, open, watched } = await openPageWorld({ deployment: DEPLOYMENT, simulator });
      const { timeline, simulate, stack } = partsOf(page);
      await open('start-run');
      await give(page, THREE_HUNDRED);
      await simulate.click();
      await timeline.getByText('Playing …').waitFor();
      await timeline.getByRole('alert').getByText('it needs more memory').waitFor();
      answers.shift();

      isLeft = false;
      await simulate.click();
      await timeline.getByText('Playing …').waitFor();
      await expect.poll(() => answers.length).toBe(2);
      await timeline.getByRole('button', { name: 'Stop' }).click();
      await timeline.getByText('Playing …').waitFor({ state: 'detached' });
      await expect.poll(() => isLeft).toBe(true);
      expect(await timeline.getByRole('alert').count()).toBe(0);
      expect(await stack.count()).toBe(0);

      await simulate.click();
      await timeline.getByText('this is how it stands after 2 h').waitFor();
      await timeline.getByText('ask/* and 2 more').waitFor();
      await timeline.getByText('does not end').waitFor();
      await simulate.click();
      await timeline.getByText('Nothing of it can be played').waitFor();
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'shows hostile words as words',
    async () => {
      const first = played(THREE_HUNDRED);
      const count = Object.fromEntries(HOSTILE.map((text) => [text, 1]));
      const simulator = answering((_job, _signal) =>
        Promise.resolve({
          ...{ ...first, plan_hash: HOSTILE[0] ?? '', reason: HOSTILE[1] ?? '', phase: HOSTILE[2] ?? '' },
          ...{
            left_out: [...HOSTILE],
            left_out_count: HOSTILE.length,
            ended: { ...count, succeeded: 1 },
            met: count,
          },
        }),
      );
      const { page, open, watched } = await openPageWorld({ deployment: DEPLOYMENT, simulator });
      await page.addInitScript({ content: "window.attacked = () => { document.title = 'attacked'; };" });
      const { timeline, simulate, stack } = partsOf(page);
      await open('start-run');
      await give(page, THREE_HUNDRED);
      await simulate.click();
      await stack.waitFor();
      const text = await timeline.innerText();
      for (const one of ['<script>attacked(1)</script>', '![picture](https://attacker.invalid/pixel.png)'])
        expect(text).toContain(one);
      expect(await timeline.locator('script, iframe, img, a, form, object, style, svg, b').count()).toBe(0);
      expect(await page.title()).not.toBe('attacked');
      await page.setViewportSize(PHONE);
      expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
        PHONE.width,
      );
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'holds the page up for no 0.2 s with ten thousand conversations and a thousand steps of each curve',
    async () => {
      const steps = Array.from({ length: 1_000 }, (_, at) => at);
      const simulator = answering(() =>
        Promise.resolve({
          ...{ ...played(THREE_HUNDRED), conversations: 10_000, ended: { succeeded: 10_000 } },
          ...{ shown_until_ms: 1_000_000, makespan_ms: 1_000_000 },
          activities: steps.map((at) => ({
            ...{ at_ms: at * 1_000, queued: 10_000 - at * 10, starting: at % 3, working: 10, paused: 0 },
            ended: at * 10,
          })),
          slots: steps.map((at) => ({ at_ms: at * 1_000, value: at % 11 })),
        }),
      );
      const { page, open } = await openPageWorld({ deployment: DEPLOYMENT, simulator });
      await observe(page, '[aria-label="Timeline"] canvas');
      await open('start-run');
      const { simulate, stack, timeline } = partsOf(page);
      await give(page, THREE_HUNDRED);
      await simulate.click();
      await stack.waitFor();
      const { longMs } = await calmest(page, async () => {
        await simulate.click();
        await timeline.getByText('Playing …').waitFor({ state: 'detached' });
        await stack.hover();
      });
      console.log(`a play of 10,000: the longest task is ${longMs} ms`);
      expect(longMs).toBeLessThanOrEqual(LONG_TASK_MS_MAX);
    },
    ALL_MS_MAX,
  );
});

/** What is painted in the picture near its right end below. */
const GROUND = `(() => {
  const canvas = document.querySelector('[aria-label="Timeline"] canvas');
  const at = canvas.getContext('2d').getImageData(canvas.width * 0.8, canvas.height * 0.75, 1, 1).data;
  return [...at].join();
})()`;

function pictures(): string {
  const folder = process.env['PARLEY_CONSOLE_PICTURES'] ?? lastingTempDir(onTestFinished);
  mkdirSync(folder, { recursive: true });
  return folder;
}
