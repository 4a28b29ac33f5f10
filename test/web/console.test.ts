/** The console in headless Chromium, on a real `parley serve` with a run in progress. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { callServed } from '../api/served.ts';
import { eventually } from '../api/service.ts';
import type { AtEnd } from '../helpers/end-process.ts';
import { describeWith } from '../helpers/requires.ts';
import { lastingTempDir } from './lasting-temp-dir.ts';
import { NARROW, openBrowser, picture, WIDE, type Watched } from './browser.ts';
import { closeConsoleWorld, openConsoleWorld, type ConsoleWorld } from './console-world.ts';

const ALL_MS_MAX = 600_000;
/** A page with nothing on it is smaller. */
const PICTURE_BYTES_MIN = 8_000;

describeWith('chromium', 'the console', () => {
  const ends: Parameters<AtEnd>[0][] = [];
  let world: ConsoleWorld;
  let watched: Watched;
  let pictures = '';
  beforeAll(async () => {
    const atEnd: AtEnd = (end) => void ends.push(end);
    world = await openConsoleWorld(lastingTempDir(atEnd), atEnd);
    watched = await openBrowser(world.served.url);
    pictures = process.env['PARLEY_CONSOLE_PICTURES'] ?? lastingTempDir(atEnd);
  }, ALL_MS_MAX);
  afterAll(async () => {
    await watched?.close();
    await closeConsoleWorld(world);
    for (const end of ends.reverse()) await end();
  }, ALL_MS_MAX);

  // What the page showed tells what a wait without an end was for.
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.error(await watched.page.locator('body').innerText());
  });

  const open = (address: string) => watched.page.goto(`${world.served.url}/console/${address}`);
  const heading = (name: string | RegExp) => watched.page.getByRole('heading', { level: 1, name });
  const button = (name: string) => watched.page.getByRole('button', { name, exact: true });
  const snap = async (name: string): Promise<void> => {
    expect(await picture(watched.page, pictures, name)).toBeGreaterThan(PICTURE_BYTES_MIN);
  };
  const api = async (path: string) => (await callServed(world.served, world.key, { path })).body;
  /** Moves the focus with the tab key alone until it is on the one that is wanted. */
  const tabTo = async (name: string): Promise<void> => {
    for (let steps = 0; steps < 60; steps += 1) {
      await watched.page.keyboard.press('Tab');
      if ((await focused()) === name) return;
    }
    throw new Error(`the tab key never came to "${name}"`);
  };
  const focused = (): Promise<string> =>
    watched.page.evaluate(
      'document.activeElement.getAttribute("aria-label") ?? (document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()',
    );

  it(
    'asks for a key, refuses a wrong one, and is used with the keyboard alone',
    async () => {
      const { page } = watched;
      await page.goto(world.served.url);
      await heading('Parley').waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/');
      expect(await focused()).toBe('API key');
      await snap('sign-in');
      await page.keyboard.type('pa-wrong');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('This key is not accepted').waitFor();
      await page.getByLabel('API key').fill('');
      await page.keyboard.type(world.key);
      await page.keyboard.press('Enter');
      await heading('Overview').waitFor();
      await tabTo('Runs');
      await page.keyboard.press('Enter');
      await heading('Runs').waitFor();
      await tabTo('nightly');
      await page.keyboard.press('Enter');
      await heading('nightly').waitFor();
      await page.reload();
      await heading('nightly').waitFor();
      const kept = [await page.evaluate('Object.keys(localStorage).length'), await page.context().cookies()];
      expect(kept).toEqual([0, []]);
    },
    ALL_MS_MAX,
  );

  it(
    'shows every page with live data of a run in progress, in light, dark and narrow',
    async () => {
      const { page } = watched;
      const rows = page.getByRole('row');
      await open('overview');
      await page.getByText('3 of').first().waitFor();
      await page.getByRole('row', { name: /^coder/ }).waitFor();
      await page.getByRole('img', { name: /^Spend by model/ }).waitFor();
      await snap('overview');
      await open('conversations');
      await rows.filter({ hasText: 'nightly: port-parser' }).filter({ hasText: 'Running' }).first().waitFor();
      await rows
        .filter({ hasText: 'nightly: write-notes' })
        .filter({ hasText: /\$0\.\d+/ })
        .first()
        .waitFor();
      await snap('conversations');
      await open('sandboxes');
      await rows.filter({ hasText: 'nightly: port-parser' }).filter({ hasText: 'process' }).waitFor();
      await snap('sandboxes');
      await open('runs');
      await rows
        .filter({ hasText: world.runId })
        .filter({ hasText: /\d of 6, 3 at work/ })
        .waitFor();
      await snap('runs');
      await open(`runs/${world.runId}`);
      await page.getByRole('img', { name: /^6 items over/ }).waitFor();
      await rows.filter({ hasText: 'publish' }).filter({ hasText: 'Waiting' }).waitFor();
      await page.getByText('The next item waits: concurrency').waitFor();
      await snap('run');
      const [run] = (await api('/api/v1/runs/search')).items;
      expect([run.id, run.in_flight, run.spent_nano_usd > 0]).toEqual([world.runId, 3, true]);
      await page
        .getByRole('row', { name: /^port-parser/ })
        .getByRole('link')
        .click();
      await page.getByRole('log').getByText('Overnight, port the parser.').waitFor();
      await snap('conversation');
      await open('settings/application');
      await page.getByLabel('Sandbox Grouping Strategy').waitFor();
      await snap('settings-application');
      await open('admin');
      await heading('Admin console').waitFor();
      await page.getByLabel('Idle Time').waitFor();
      await snap('admin');
      await page.emulateMedia({ colorScheme: 'dark' });
      await snap('admin-dark');
      await page.setViewportSize(NARROW);
      await open(`runs/${world.runId}`);
      await page.getByRole('img', { name: /^6 items over/ }).waitFor();
      await snap('run-narrow-dark');
      const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
      expect(isWide).toBe(false);
      await page.setViewportSize(WIDE);
      await page.emulateMedia({ colorScheme: 'light' });
      await open('no/such/page');
      await heading('Nothing here').waitFor();
    },
    ALL_MS_MAX,
  );

  it(
    'saves and deploys the configuration, shows what is wrong with it, and what waits for a restart',
    async () => {
      const { page } = watched;
      await open('admin');
      await page.getByLabel('Idle Time').fill('7200');
      await page.getByRole('form', { name: 'Sandbox Configuration' }).getByRole('button').click();
      await page.getByText('These hold from now on: limits.idle_time.').waitFor();
      expect((await api('/api/v1/settings')).limits.idle_time).toBe(7_200);
      const written = readFileSync(world.configFile, 'utf8');
      expect(written).toContain('idle_time: 7200');
      expect(written).toContain('# of a script');
      expect(readFileSync(`${world.configFile}.previous`, 'utf8')).toContain('idle_time: 3600');

      const text = page.getByLabel('Configuration', { exact: true });
      const deploy = page
        .getByRole('form', { name: 'Service config YAML' })
        .getByRole('button', { name: 'Save and deploy' });
      await text.fill(`${written}capacty: { sandboxes: 4 }\n`);
      await deploy.click();
      await page
        .getByRole('alert')
        .getByText(/^Line \d+, column 1: .*capacty/)
        .waitFor();
      expect(readFileSync(world.configFile, 'utf8')).toBe(written);
      await text.fill(`${written}engine: { events_max: 1000 }\ncapacity: { sandboxes_per_user: 30 }\n`);
      await deploy.click();
      await page.getByText('These hold after the next start of the service: engine.events_max').waitFor();
      expect((await api('/api/v1/settings')).limits.sandboxes_per_user).toBe(30);
      await snap('admin-deployed');

      const deployed = readFileSync(world.configFile, 'utf8');
      writeFileSync(world.configFile, `${deployed}capacty: {}\n`);
      await open('runs');
      await open('admin');
      await page.getByText(/earlier configuration .* in force/).waitFor();
      writeFileSync(world.configFile, deployed);
    },
    ALL_MS_MAX,
  );

  it(
    'changes the grouping strategy and the extra header of a profile, and a conversation has both',
    async () => {
      const { page } = watched;
      await open('admin');
      await page.getByText('Advanced Options').click();
      await page.getByLabel('Enable Forwarding Client Headers Through the service to LLM Providers').check();
      await page.getByLabel('Custom LLM Extra HTTP Headers').check();
      await page.getByLabel('Headers as a JSON object').fill('{"x-route": "blue"}');
      await page.getByRole('form', { name: 'Model proxy' }).getByRole('button').click();
      await page.getByText('These hold from now on: proxy_config.').waitFor();

      await open('settings/llm');
      await button('New profile').click();
      await page.getByLabel('Profile name').fill('search-team');
      await page.getByLabel('LLM Model').selectOption({ label: 'coder' });
      await page.getByText('Advanced Options').click();
      await button('Add header').click();
      await page.getByLabel('Name of header 1').fill('x-team');
      await page.getByLabel('Value of header 1').fill('search');
      await button('Save Changes').click();
      await button('Use for new conversations').click();
      await page.getByText('in use').waitFor();
      await snap('settings-llm');

      const before = (await api('/api/v1/sandboxes/search')).items.map(({ id }: { id: string }) => id);
      await open('settings/application');
      await page.getByLabel('Sandbox Grouping Strategy').selectOption({ label: 'Add to any' });
      await button('Save Changes').click();
      await page.getByText('Settings are saved.').waitFor();

      await open('conversations');
      await button('Start a conversation').click();
      await page
        .getByLabel('Sandbox', { exact: true })
        .getByText('By my settings: Add to any')
        .waitFor({ state: 'attached' });
      await page.getByLabel('Message', { exact: true }).fill('Count the files.');
      await page.getByLabel('Title', { exact: true }).fill('Counted files');
      await snap('start-dialog');
      await button('Start').click();
      await heading('Counted files').waitFor();
      await page.getByRole('log').getByText('The note is written.').waitFor();
      const { items } = await api('/api/v1/app-conversations/search?title__contains=Counted');
      expect(before).toContain(items[0].sandbox_id);
      const calls = world.gatewayHeaders.filter((headers) => headers['x-team'] === 'search');
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.every((headers) => headers['x-route'] === 'blue')).toBe(true);
    },
    ALL_MS_MAX,
  );

  it(
    'confirms, talks to, and stops an agent whose sandbox is shared, after showing whom that meets',
    async () => {
      const { page } = watched;
      await open('settings/application');
      await page.getByLabel('Confirmation Mode').check();
      await button('Save Changes').click();
      await page.getByText('Settings are saved.').waitFor();
      await open('conversations');
      await button('Start a conversation').click();
      await page.getByLabel('Message', { exact: true }).fill('Clean up.');
      await page.getByLabel('Title', { exact: true }).fill('Cleaned up');
      await button('Start').click();
      const bar = page.getByRole('region', { name: 'Confirmation' });
      await bar.getByText('Remove left-over files').waitFor();
      await snap('confirmation');
      await bar.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('log').getByText('All is clean.').waitFor();
      await page.getByLabel('Message to the agent').fill('Thank you.');
      await page.keyboard.press('Enter');
      await page.getByRole('log').getByText('Thank you.').waitFor();
      // A message on its way to the agent would have the sandbox resumed at once.
      await page.getByRole('log').getByText('Done.', { exact: true }).waitFor();

      await button('Stop sandbox').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Counted files').waitFor();
      await dialog.getByText('Every agent in it stops').waitFor();
      await snap('impact');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await button('Stop sandbox').click();
      await dialog.getByRole('button', { name: 'Stop sandbox' }).click();
      await button('Resume sandbox').waitFor();
      await page.getByLabel('Facts').getByText('Paused').waitFor();
      await button('Resume sandbox').click();
      await page.getByLabel('Facts').getByText('Running', { exact: true }).first().waitFor();
    },
    ALL_MS_MAX,
  );

  it(
    'interrupts an agent at work, downloads a trajectory and deletes a conversation',
    async () => {
      const { page } = watched;
      await open('conversations');
      await page.getByRole('link', { name: 'nightly: last-checks' }).first().click();
      await button('Interrupt').click();
      await page.getByRole('log').getByText('Stopped by the user').waitFor();
      const downloading = page.waitForEvent('download');
      await button('Download').click();
      expect((await downloading).suggestedFilename()).toMatch(/^[0-9a-f]{32}\.zip$/);
      await open('conversations');
      await page.getByRole('link', { name: 'Counted files' }).click();
      await button('Delete').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete conversation' }).click();
      await heading('Conversations').waitFor();
      await eventually(
        () => api('/api/v1/app-conversations/search?title__contains=Counted'),
        ({ items }) => items.length === 0,
      );
    },
    ALL_MS_MAX,
  );

  it('is built for production, whoever has built it', async () => {
    const script = watched.addresses.find((address) => address.endsWith('.js')) ?? '';
    const text = await (await fetch(script)).text();
    // What the library says in its form for development alone.
    expect([text.length > 100_000, text.includes('React DevTools')]).toEqual([true, false]);
  });

  it('asks nobody else for anything, breaks no rule of its policy, and has the key in no address', () => {
    const { outside, violations, errors, addresses } = watched;
    expect({ outside, violations, errors }).toEqual({ outside: [], violations: [], errors: [] });
    expect(addresses.length).toBeGreaterThan(50);
    expect(addresses.filter((address) => address.includes(world.key))).toEqual([]);
  });
});
