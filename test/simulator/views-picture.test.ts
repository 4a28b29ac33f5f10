/** The page of a simulation as a browser shows it: every figure has the colours of what it shows. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { MINUTE_MS } from '../../core/time.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { simulatePlan } from '../../simulator/simulate-plan.ts';
import { SHARED_STYLE } from '../../report/page/shared-style.ts';
import { FIGURE_TOKENS, planPage } from '../../simulator/views/plan-page.ts';
import { agent } from '../conformance/script-parts.ts';
import { decodePng, type Picture } from '../helpers/png.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { openBrowser } from '../web/browser.ts';
import { findings } from '../web/findings.ts';
import { question } from './questions.ts';

/** High enough for all figures below one another. */
const WINDOW = { width: 1_200, height: 2_200 } as const;
/** Starting a browser on a busy machine takes its time. */
const BROWSER_MS_MAX = 600_000;
/** Fewer pixels of a colour are a mark, and no figure. */
const PIXELS_MIN = 40;

/** What the console's tokens are in light. */
function lightColours(): Readonly<Record<keyof typeof FIGURE_TOKENS, string>> {
  const entries = Object.entries(FIGURE_TOKENS).map(([name, token]) => {
    const [, colour = ''] = new RegExp(`${token}: light-dark\\((#[0-9a-f]{6})`).exec(SHARED_STYLE) ?? [];
    return [name, colour];
  });
  return Object.fromEntries(entries) as Record<keyof typeof FIGURE_TOKENS, string>;
}

interface Region {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function chromium(folder: string, ...args: readonly string[]): string {
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--hide-scrollbars',
  ];
  const own = [`--user-data-dir=${path.join(folder, 'profile')}`];
  const size = `--window-size=${WINDOW.width},${WINDOW.height}`;
  return execFileSync('chromium', [...flags, ...own, size, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: BROWSER_MS_MAX,
  });
}

/** Reads from the browser itself where the figures are: a copy of the page without its policy may run a script. */
function regionsOf(folder: string, html: string): Readonly<Record<string, Region>> {
  const script = `<script>
    const found = {};
    for (const figure of document.querySelectorAll('figure')) {
      const { left, top, right, bottom } = figure.querySelector('svg').getBoundingClientRect();
      found[figure.id] = { left, top, right, bottom };
    }
    document.documentElement.dataset.regions = JSON.stringify(found);
  </script>`;
  const file = path.join(folder, 'measured.html');
  const open = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
  writeFileSync(file, open.replace('</body>', `${script}</body>`));
  const dumped = chromium(folder, '--dump-dom', `file://${file}`);
  const text = /data-regions="([^"]*)"/.exec(dumped)?.[1] ?? '';
  return JSON.parse(text.replaceAll('&quot;', '"')) as Record<string, Region>;
}

function countPixels(picture: Picture, region: Region | undefined, colour: string): number {
  if (region === undefined) throw new Error('the page has no such figure');
  let count = 0;
  for (let y = Math.ceil(region.top); y < Math.min(picture.height, region.bottom); y += 1)
    for (let x = Math.ceil(region.left); x < Math.min(picture.width, region.right); x += 1)
      if (picture.colourAt(x, y) === colour) count += 1;
  return count;
}

describeWith('chromium', 'planPage() in a browser', () => {
  it(
    'shows bars, slots against their limit, spend and statuses, each in its colours',
    () => {
      // A long quiet stretch meets the idle pause, so that a pause is on the picture as well.
      const asked = { ...question(6, { admission: { concurrency: 3 } }), curves: true, checks: true };
      const models = agent({ quiet: { share: 1, length: fixed(25 * MINUTE_MS), leased: 0 } });
      const [boot, resume] = [fixed(3 * MINUTE_MS), fixed(3 * MINUTE_MS)];
      const runtime = { ...models.runtime, boot, resume };
      const policy = { ...asked.policy, capacity: { ...asked.policy.capacity, userMax: 4 } };
      const answer = simulatePlan({ ...asked, policy, models: { ...models, runtime } });
      const html = planPage({ name: 'picture', answer, startAt: asked.startAt, seed: 1 });
      const folder = tempDir();
      writeFileSync(path.join(folder, 'page.html'), html);
      chromium(folder, '--screenshot=page.png', `file://${path.join(folder, 'page.html')}`);
      const picture = decodePng(readFileSync(path.join(folder, 'page.png')));
      expect([picture.width, picture.height]).toEqual([WINDOW.width, WINDOW.height]);
      const regions = regionsOf(folder, html);
      const { queued, starting, working, paused, ended, slots, limit, cost } = lightColours();
      const expected = {
        gantt: { queued, starting, working, paused },
        capacity: { slots, limit },
        cost: { cost },
        status: { queued, starting, working, paused, ended },
      };
      for (const [figure, colours] of Object.entries(expected))
        for (const [name, colour] of Object.entries(colours))
          expect(countPixels(picture, regions[figure], colour), `${figure}: ${name}`).toBeGreaterThan(
            PIXELS_MIN,
          );
      // A colour of another figure is not there: the regions are distinct.
      expect(countPixels(picture, regions['gantt'], cost)).toBe(0);
      expect(countPixels(picture, regions['cost'], working)).toBe(0);
    },
    2 * BROWSER_MS_MAX,
  );

  it(
    'has nothing that axe finds, in light and dark, and nothing that its policy refuses',
    async () => {
      const answer = simulatePlan({ ...question(6, { admission: { concurrency: 3 } }), curves: true });
      const folder = tempDir();
      const html = planPage({ name: 'picture', answer, startAt: question(6).startAt, seed: 1 });
      writeFileSync(path.join(folder, 'page.html'), html);
      const watched = await openBrowser(`file://${folder}`);
      onTestFinished(() => watched.close());
      await watched.page.goto(`file://${folder}/page.html`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await watched.page.emulateMedia({ colorScheme });
        expect(await findings(watched)).toEqual([]);
      }
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    BROWSER_MS_MAX,
  );
});
