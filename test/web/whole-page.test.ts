/** What holds for every page: found by axe, used with keys alone, at 390 px, in each colour, and after an outage. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { workspaceFacts } from '../../activities/in-sandbox.ts';
import { conversationId } from '../../core/ids.ts';
import { startReady } from '../api/service.ts';
import { ROOT } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { ariaOf } from './aria.ts';
import { findings } from './findings.ts';
import { action, message, observation, openPageWorld, type PageWorld } from './page-world.ts';
import { leavePastRuns, PAST } from './past-runs.ts';

const ALL_MS_MAX = 600_000;
/** Each page as a screen reader has it. */
const ARIA = path.join(ROOT, 'test/golden/console/aria.txt');
/** Each kind of row once, so that a page is looked at in a moment. */
const FEW = 6;
const PHONE = { width: 390, height: 844 } as const;
/** As long as a deployment takes; a test of every day waits less. */
const OUTAGE_MS = Number(process.env['PARLEY_CONSOLE_OUTAGE_MS'] ?? 8_000);

async function talked(world: PageWorld): Promise<string> {
  const { service, say } = world;
  const { id } = await startReady(service, {
    title: 'A long enough title for a narrow page',
    tags: { team: 'blue' },
  });
  await say(id, [
    message('Please look at `everything`.', 'user'),
    action({ id: 'one', action: { command: `echo ${'wide'.repeat(60)}` } }),
    observation('one', `\u001b[31mred\u001b[0m \u001b[44;97mon blue\u001b[0m\n${'line\n'.repeat(40)}`),
    action({
      ...{ id: 'two', tool: 'file_editor' },
      action: { command: 'str_replace', path: '/w/a.ts', old_str: 'let a = 1;', new_str: 'let a = 2;' },
    }),
    message('Done: see [the page](https://example.invalid/a).\n\n| a | b |\n| --- | --- |\n| 1 | 2 |'),
  ]);
  service.agent.changes = [
    { path: 'src/a.ts', status: 'UPDATED' },
    { path: 'src/deep/b.ts', status: 'ADDED' },
  ];
  service.agent.diff = { original: 'one\ntwo\nthree\n', modified: 'one\n2\nthree\nfour\n' };
  return id;
}

/** Each page with what shows that it is there. */
const pagesOf = (id: string): readonly (readonly [address: string, seen: string])[] => [
  ['overview', 'Slots in use'],
  ['conversations', 'A long enough title'],
  [`conversations/${id}`, 'Please look at'],
  [`conversations/${id}/changes`, 'four'],
  [`conversations/${id}/files`, 'notes.md'],
  [`conversations/${id}/skills`, 'Hooks'],
  [`conversations/${id}/usage`, 'no model yet'],
  ['sandboxes', 'process'],
  ['runs', PAST.first],
  ['start-run', 'Conversations'],
  [`runs/${PAST.second}`, 'History of the job'],
  [`runs/${PAST.second}/report`, 'To the nano-dollar'],
  [`runs/${PAST.second}/beside/${PAST.first}`, 'Worse'],
  [`jobs/${PAST.job}`, 'Flaky'],
  ['settings/application', 'Git'],
  ['settings/llm', 'profile'],
  ['secrets', 'No secret is stored'],
  ['keys', 'Virtual keys of the proxy'],
  ['audit', 'start_app_conversation'],
  ['admin', 'Admin console'],
  ['no/such/page', 'Nothing here'],
];

describeWith('chromium', 'every page', () => {
  it(
    'has nothing for axe to find, in light and dark, wide and at 390 px, and reads as it did',
    async () => {
      const world = await openPageWorld();
      const { page, open, service } = world;
      const id = await talked(world);
      await writeFiles(service, id);
      await leavePastRuns(service, FEW);
      const found: string[] = [];
      const read: string[] = [];
      for (const [address, seen] of pagesOf(id)) {
        await open(address);
        await page.getByText(seen).first().waitFor();
        if (address === 'start-run') {
          await page.getByRole('textbox', { name: 'Job file' }).waitFor();
          await page.getByRole('button', { name: 'Simulate' }).click();
          await page.getByRole('img', { name: '1 conversation by what they do' }).waitFor();
        }
        if (address === `runs/${PAST.second}`) {
          await page.getByRole('button', { name: 'moody' }).click();
          await page.getByText('+new').waitFor();
        }
        read.push(`# ${address.replace(id, 'ID')}\n${await ariaOf(page)}\n`);
        await page.emulateMedia({ colorScheme: 'light' });
        found.push(...(await findings(world)).map((one) => `${address} light: ${one}`));
        await page.emulateMedia({ colorScheme: 'dark' });
        found.push(...(await findings(world)).map((one) => `${address} dark: ${one}`));
        await page.setViewportSize(PHONE);
        found.push(...(await findings(world)).map((one) => `${address} narrow, dark: ${one}`));
        await page.emulateMedia({ colorScheme: 'light' });
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        if (Number(wide) > PHONE.width) found.push(`${address}: ${String(wide)} px wide`);
        found.push(...(await findings(world)).map((one) => `${address} narrow: ${one}`));
        await page.setViewportSize({ width: 1360, height: 900 });
      }
      expect(found).toEqual([]);
      const text = read.join('\n');
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(ARIA, text);
      expect(text).toBe(readFileSync(ARIA, 'utf8'));
      expect([world.watched.violations, world.watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'is used with keys: a list of them, one stop for a transcript, and colours that stay chosen',
    async () => {
      const world = await openPageWorld();
      const { page, open } = world;
      const id = await talked(world);
      await open(`conversations/${id}`);
      await page.getByRole('log').getByText('the page').waitFor();
      await page.keyboard.press('?');
      const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await list.getByText('Go to the transcript').waitFor();
      expect(await findings(world)).toEqual([]);
      await page.keyboard.press('Escape');
      await list.waitFor({ state: 'detached' });

      await page.keyboard.press('t');
      const focused = (): Promise<unknown> =>
        page.evaluate(
          `[document.activeElement.getAttribute('aria-label'), document.activeElement.dataset.seq ?? null, document.activeElement.tagName]`,
        );
      expect(await focused()).toEqual(['Events', null, 'DIV']);
      await page.keyboard.press('ArrowUp');
      expect(await focused()).toEqual([null, '5', 'LI']);
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toEqual([null, null, 'A']);
      await page.keyboard.press('Home');
      await page.keyboard.press('j');
      expect(await focused()).toEqual([null, '2', 'LI']);
      await page.keyboard.press('Enter');
      expect(await page.locator('[data-seq="2"] details').getAttribute('open')).toBe('');
      await page.keyboard.press('Tab');
      expect(await focused()).toEqual(['Message to the agent', null, 'TEXTAREA']);
      await page.keyboard.type('gc?');
      expect(await page.getByLabel('Message to the agent').inputValue()).toBe('gc?');
      await page.getByRole('log').focus();
      await page.keyboard.press('g');
      await page.keyboard.press('s');
      await page.getByRole('heading', { level: 1, name: 'Sandboxes' }).waitFor();

      const ground = (): Promise<unknown> => page.evaluate('getComputedStyle(document.body).backgroundColor');
      const light = await ground();
      await page.getByLabel('Colours').selectOption('dark');
      const dark = await ground();
      expect(dark).not.toBe(light);
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Sandboxes' }).waitFor();
      expect(await ground()).toBe(dark);
      await page.getByLabel('Colours').selectOption('system');
      expect(await ground()).toBe(light);
    },
    ALL_MS_MAX,
  );

  it(
    'goes on by itself after the service was away, and says that it was',
    async () => {
      const world = await openPageWorld();
      const { page, say, service } = world;
      const id = await talked(world);
      await writeFiles(service, id);
      await leavePastRuns(service, FEW);
      const tabs: (readonly [address: string, seen: string, tab: Page])[] = [];
      for (const [address, seen] of pagesOf(id).filter(([one]) => !one.includes('no/such'))) {
        const tab = await world.openTab(address);
        await tab.getByText(seen).first().waitFor();
        tabs.push([address, seen, tab]);
      }
      // A transcript that is about to be read when the service goes away is read when it is back.
      const away = new AbortController();
      const about = await world.openTab(`conversations/${id}`, async (tab) => {
        await tab.route('**/events/count**', async (route) => {
          if (!away.signal.aborted) await once(away.signal, 'abort');
          await route.continue();
        });
      });
      await about.getByRole('heading', { name: 'A long enough title' }).waitFor();

      await world.stop();
      away.abort();
      await say(id, [message('Said while nobody listened.')]);
      for (const [address, seen, tab] of tabs) {
        await tab.getByRole('alert').getByText('cannot be reached since').waitFor();
        expect(await tab.getByText(seen).count(), address).toBeGreaterThan(0);
      }
      await about.getByRole('alert').getByText('cannot be reached since').waitFor();
      await pause(OUTAGE_MS);
      await world.startAgain();
      for (const [address, seen, tab] of tabs) {
        await tab.getByText('It is back, and the page is up to date.').waitFor();
        expect(await tab.getByText(seen).count(), address).toBeGreaterThan(0);
        await tab.getByRole('button', { name: 'Understood' }).click();
        expect(await tab.getByText('could not be reached').count()).toBe(0);
        if (address === `conversations/${id}`)
          await tab.getByRole('log').getByText('Said while nobody listened.').waitFor();
        await tab.close();
      }
      await about.getByRole('log').getByText('the page').waitFor();

      // What happens from now on is shown as before.
      await startReady(service, { title: 'After the outage' });
      await page.goto(`${world.url}/console/sandboxes`);
      await page.getByRole('link', { name: 'After the outage' }).waitFor();
      expect([world.watched.errors, world.watched.violations]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );
});

/** What a sandbox would hold: the workspace of the model is a folder of this machine. */
async function writeFiles({ world }: PageWorld['service'], id: string): Promise<void> {
  const { workingDir } = await workspaceFacts(world, conversationId(id));
  mkdirSync(`${workingDir}/src`, { recursive: true });
  writeFileSync(`${workingDir}/notes.md`, '# Notes\n\n- one\n');
  writeFileSync(`${workingDir}/src/a.ts`, 'export const a = 1;\n');
}
