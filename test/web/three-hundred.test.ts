/** The example of three hundred in headless Chromium on a real `parley serve`: begun in the browser, and every kind of page while it works. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../api/service.ts';
import type { AtEnd } from '../helpers/end-process.ts';
import { describeWith } from '../helpers/requires.ts';
import { picture, WIDE } from './browser.ts';
import { findings } from './findings.ts';
import { lastingTempDir } from './lasting-temp-dir.ts';
import { EXAMPLE, openThreeHundred, type ThreeHundred } from './three-hundred-world.ts';

const ALL_MS_MAX = 600_000;
const PHONE = { width: 390, height: 844 } as const;
const PICTURE_BYTES_MIN = 10_000;
const LINE = 'There is a place where it always begins.';

interface Run {
  readonly id: string;
  readonly phase: string;
  readonly ended: Readonly<Record<string, number>>;
}

interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly execution_status: string | null;
}

describeWith('chromium', 'the example of three hundred', () => {
  const ends: Parameters<AtEnd>[0][] = [];
  let world: ThreeHundred;
  let pictures = '';
  beforeAll(async () => {
    const atEnd: AtEnd = (end) => void ends.push(end);
    world = await openThreeHundred(lastingTempDir(atEnd), atEnd);
    pictures = process.env['PARLEY_CONSOLE_PICTURES'] ?? lastingTempDir(atEnd);
    mkdirSync(pictures, { recursive: true });
  }, ALL_MS_MAX);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  }, ALL_MS_MAX);

  const button = (name: string) => world.page.getByRole('button', { name, exact: true });
  const region = (name: string) => world.page.getByRole('region', { name, exact: true });
  const run = async (): Promise<Run> => (await world.ask('/api/v1/runs/search')).items[0];
  const conversations = async (): Promise<readonly Conversation[]> =>
    (await world.ask('/api/v1/app-conversations/search?limit=100')).items;
  /** One that has written its text and thinks about what to say of it: the newest, which goes on the longest. */
  const atWork = async (): Promise<Conversation> => {
    const isAtWork = ({ execution_status: status }: Conversation): boolean => status === 'RUNNING';
    const [one] = await eventually(
      async () => (await conversations()).filter(isAtWork),
      (all) => all.length > 0,
    );
    if (one === undefined) throw new Error('nothing is at work');
    const results = `/api/v1/conversation/${one.id}/events/search?limit=10&kind__eq=ObservationEvent`;
    await eventually(
      () => world.ask(results),
      ({ items }: { readonly items: readonly unknown[] }) => items.length > 0,
    );
    return one;
  };

  it(
    '3: is written in the editor, priced and played before a dollar is spent, and begun',
    async () => {
      const { page, open } = world;
      await open('start-run');
      await page.getByLabel('Open a file').setInputFiles(path.join(EXAMPLE, 'job.yaml'));
      await region('Plan').getByText('writer 300').waitFor();
      await button('Simulate').click();
      await page.getByRole('img', { name: /^300 conversations by what they do/ }).waitFor();
      await page.getByRole('button', { name: /^Start the run/ }).click();
      await page.getByRole('heading', { level: 1, name: 'three-hundred' }).waitFor();
      await eventually(run, ({ ended }) => (ended['succeeded'] ?? 0) > 2);
    },
    ALL_MS_MAX,
  );

  it(
    '4, 5, 7: every list shows it at work, in light, dark and at 390 px, without a finding of axe',
    async () => {
      const { page, open } = world;
      const { id } = await run();
      const talk = (await atWork()).id;
      const pages: readonly (readonly [name: string, address: string, seen: RegExp])[] = [
        ['conversation', `conversations/${talk}`, /into text\.md/],
        ['overview', 'overview', /of 10/],
        ['conversations', 'conversations', /three-hundred: text\//],
        ['sandboxes', 'sandboxes', /three-hundred: text\//],
        ['runs', 'runs', /of 300, \d+ at work/],
        ['run', `runs/${id}`, /The next item waits: concurrency/],
        ['report', `runs/${id}/report`, /conversations have not ended/],
        ['job', 'jobs/three-hundred', /300 items in one run, 0 of them flaky/],
        ['keys', 'keys', /Who may call the API/],
        ['audit', 'audit', /submit_run/],
      ];
      const found: string[] = [];
      for (const [name, address, seen] of pages) {
        await open(address);
        await page.getByText(seen).first().waitFor();
        for (const colorScheme of ['light', 'dark'] as const)
          for (const size of [WIDE, PHONE]) {
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize(size);
            const file = `three-hundred-${name}-${colorScheme}-${size.width}`;
            expect(await picture(page, pictures, file)).toBeGreaterThan(PICTURE_BYTES_MIN);
            const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
            if (wide > size.width) found.push(`${file}: ${wide} px wide`);
          }
        found.push(...(await findings({ page })).map((one) => `${name}: ${one}`));
        await page.setViewportSize(WIDE);
        await page.emulateMedia({ colorScheme: 'light' });
      }
      expect(found).toEqual([]);
    },
    ALL_MS_MAX,
  );

  it(
    '1: a conversation at work pairs its action with the result and the cost; one that has ended has its answer open',
    async () => {
      const { page, open } = world;
      const { id, title } = await atWork();
      await open(`conversations/${id}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      const step = page.getByRole('log').getByRole('listitem').filter({ hasText: 'I write it in one go.' });
      await step.getByText(`echo '${LINE}' > text.md`).waitFor();
      await step.getByText('exit 0').waitFor();
      await step.getByText('$0.000119').waitFor();
      await region('Transcript').getByLabel('Message to the agent').waitFor();
      await page.getByLabel('Facts').getByText('NO_GROUPING').waitFor();
      await page
        .getByLabel('Facts')
        .getByRole('link', { name: (await run()).id })
        .waitFor();
      const ended = (await conversations()).find((one) => one.execution_status === 'FINISHED');
      await open(`conversations/${ended?.id ?? ''}`);
      const answer = page.getByRole('log').getByRole('listitem').filter({ hasText: 'Agent finished' });
      await answer.getByText('text.md has the text.').waitFor();
      await page.getByRole('searchbox', { name: 'Search this conversation' }).fill('always begins');
      await button('Search').click();
      await page.getByText(/^1 /).first().waitFor();
    },
    ALL_MS_MAX,
  );

  it(
    '2: what it has made is compared, read and downloaded, and its calls are summed by model',
    async () => {
      const { page, open } = world;
      const { id } = await atWork();
      await open(`conversations/${id}/changes`);
      await page.getByRole('table', { name: 'Changes of text.md' }).getByText(LINE).waitFor();
      await page.getByRole('link', { name: 'Files' }).click();
      await page.getByRole('button', { name: 'text.md' }).click();
      const downloading = page.waitForEvent('download');
      await button('Download file').click();
      const download = await downloading;
      expect([download.suggestedFilename(), readFileSync(await download.path(), 'utf8')]).toEqual([
        'text.md',
        `${LINE}\n`,
      ]);
      await page.getByRole('link', { name: 'Skills and hooks' }).click();
      await page.getByText('The workspace configures none.').waitFor();
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('row', { name: /^writer \d 311 0 29 \$0\.000119/ }).waitFor();
    },
    ALL_MS_MAX,
  );

  it(
    '4, 5, 6: capacity and spend, a filter that the server answers, several at once, and who did what',
    async () => {
      const { page, open } = world;
      await open('overview');
      await region('Capacity')
        .getByText(/10 of 10$/)
        .waitFor();
      await region('Spend')
        .getByRole('row', { name: /^writer \d+/ })
        .waitFor();
      await region('Trouble').getByText('Nothing goes wrong').waitFor();
      await open('conversations');
      await page.getByLabel('Title contains').fill('rivers-riddle');
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      await page.getByLabel('All of this page').check();
      await region('Selected rows').getByText('1 selected').waitFor();
      await page.getByLabel('Title contains').fill('');
      await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(10);
      await open('keys');
      await page.getByRole('rowheader', { name: 'first' }).waitFor();
      await open('audit');
      await page.getByLabel('Action').selectOption('submit_run');
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      await page.getByRole('row', { name: /submit_run 201/ }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByText('?', { exact: true }).waitFor();
      await page.keyboard.press('Escape');
    },
    ALL_MS_MAX,
  );

  it(
    '3, 8: its items are searched and opened, it is held, resumed and ended, and the report says what came of it',
    async () => {
      const { page, open, watched } = world;
      const { id } = await run();
      await open(`runs/${id}`);
      const items = region('Items');
      await items.getByLabel('Outcome').selectOption('succeeded');
      await items.getByLabel('Key contains').fill('rivers-riddle');
      await items.getByRole('button', { name: 'text/rivers-riddle' }).click();
      const work = page.getByLabel('Work of text/rivers-riddle');
      await work.getByText('Write a riddle about rivers into text.md.').waitFor();
      await work.getByText('text.md has the text.').waitFor();
      await work.getByText(`+${LINE}`).waitFor();
      await work.getByText('test -s text.md').waitFor();
      await items.getByLabel('Key contains').fill('');
      await button('Set concurrency').click();
      await page.getByLabel('Concurrency').fill('4');
      await button('Set').click();
      await region('What happened')
        .getByText(/concurrency/)
        .first()
        .waitFor();
      await button('Pause').click();
      await button('Resume').click();
      await button('Drain').click();
      await page.locator('.page-head').getByText('Draining').waitFor();
      await button('Cancel run').click();
      await button('Cancel the run').click();
      await page.locator('.page-head').getByText('Finished').waitFor();
      const { ended } = await run();
      await page.getByRole('link', { name: 'Report', exact: true }).click();
      const sums = region('Sums');
      await sums.getByText(`${ended['succeeded'] ?? 0} of 300`).waitFor();
      const footnote = page.locator('#to-the-nano-dollar');
      await footnote
        .getByText(/nano-dollars/)
        .first()
        .waitFor();
      await region('Items').getByRole('button', { name: 'text/rivers-riddle' }).waitFor();
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );
});
