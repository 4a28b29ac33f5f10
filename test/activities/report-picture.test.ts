/** The HTML report as a browser shows it: every figure is there, painted, and nothing is fetched. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { renderHtml } from '../../report/html/render-html.ts';
import type { ReportItem } from '../../report/report-data.ts';
import { decodePng } from '../helpers/png.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { COMPLETE } from './report-data.ts';

const WINDOW = { width: 1_200, height: 3_600 } as const;
/** Starting a browser on a busy machine takes its time. */
const BROWSER_MS_MAX = 600_000;
/** Fewer pixels of a colour are a mark, and no figure. */
const PIXELS_MIN = 200;
/** As the report paints them in light. */
const COLOURS = { good: '#16794c', bad: '#b3261e', busy: '#2f55d4' } as const;

function chromium(folder: string, ...args: readonly string[]): string {
  const own = [
    `--user-data-dir=${path.join(folder, 'profile')}`,
    `--window-size=${WINDOW.width},${WINDOW.height}`,
  ];
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--hide-scrollbars',
  ];
  return execFileSync('chromium', [...flags, ...own, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: BROWSER_MS_MAX,
  });
}

/** A batch of forty: most good, some failed, each a little later than the one before. */
function batch(): typeof COMPLETE {
  const { createdAt } = COMPLETE.run;
  const first = COMPLETE.items.find(({ row }) => row?.phase === 'ended') as ReportItem;
  const items = Array.from({ length: 40 }, (_, index): ReportItem => {
    const isGood = index % 4 !== 0;
    const row = {
      ...(first.row as NonNullable<ReportItem['row']>),
      key: `tidy/${index}`,
      outcome: isGood ? ('succeeded' as const) : ('failed' as const),
      failureClass: isGood ? null : ('infra' as const),
      admittedAt: createdAt + index * 30_000,
      endedAt: createdAt + index * 30_000 + 300_000 + index * 1_000,
    };
    const tags = { team: index % 2 === 0 ? 'red' : 'blue' };
    return { ...first, key: row.key, row, tags, model: index % 3 === 0 ? 'strong' : 'fast' };
  });
  return { ...COMPLETE, run: { ...COMPLETE.run, endedAt: createdAt + 1_600_000 }, items };
}

describeWith('chromium', 'renderHtml() in a browser', () => {
  function page(): { readonly folder: string; readonly file: string } {
    const folder = tempDir();
    const file = path.join(folder, 'report.html');
    writeFileSync(file, renderHtml(batch()));
    return { folder, file };
  }

  it('holds every figure, each with words for those who cannot see it', { timeout: BROWSER_MS_MAX }, () => {
    const { folder, file } = page();
    const dom = chromium(folder, '--dump-dom', `file://${file}`);
    const ids = [...dom.matchAll(/<figure id="([^"]+)" class="card">/g)].map(([, id]) => id);
    expect(ids).toEqual([
      'status',
      'capacity',
      'outcomes',
      'spend-by-model',
      'spend-by-tag-team',
      'slowest',
      'dearest',
      'billed-by-model',
      'billed-by-tag-team',
      'unmatched',
      'clock-difference',
    ]);
    expect(dom.match(/<svg [^>]*role="img" aria-label="[^"]{20,}"/g)).toHaveLength(ids.length);
  });

  it('paints them in colours that its own policy lets through', { timeout: BROWSER_MS_MAX }, () => {
    const { folder, file } = page();
    chromium(folder, '--screenshot=report.png', `file://${file}`);
    const picture = decodePng(readFileSync(path.join(folder, 'report.png')));
    const counts = { good: 0, bad: 0, busy: 0 };
    // Every second line: a figure has thousands of pixels, and the page is long.
    for (let y = 0; y < picture.height; y += 2)
      for (let x = 0; x < picture.width; x += 1)
        for (const tone of ['good', 'bad', 'busy'] as const)
          if (picture.colourAt(x, y) === COLOURS[tone]) counts[tone] += 1;
    for (const [tone, count] of Object.entries(counts))
      expect([tone, count > PIXELS_MIN]).toEqual([tone, true]);
  });
});
