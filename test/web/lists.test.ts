/** Lists in headless Chromium: filtered, ordered and paged by the server, kept in the address, changed several at once. */
import { expect, it } from 'vitest';
import { conversationId, sandboxId, userId } from '../../core/ids.ts';
import { eventually, startReady } from '../api/service.ts';
import { conversationRow, sandboxRow } from '../contract/store-rows.ts';
import { describeWith } from '../helpers/requires.ts';
import { findings } from './findings.ts';
import { openPageWorld } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const HOSTILE = '<img src=x onerror=attacked(1)>';
const LIVING = 18;
const GONE = 120;
const ADA = userId('ada');

const hex = (prefix: string, at: number) => `${prefix}${at.toString(16).padStart(31, '0')}`;

describeWith('chromium', 'lists', () => {
  it(
    'show every living sandbox however many are gone, and keep filter, order and page in the address',
    async () => {
      const world = await openPageWorld();
      const { page, open, service, watched } = world;
      const gone = { status: 'MISSING', available: false, holdsSlot: false, sessionStartedAt: null } as const;
      await service.store.records.project([
        ...Array.from({ length: LIVING }, (_, i) =>
          sandboxRow(sandboxId(hex('a', i)), { userId: ADA, createdAt: 1_000 + i }),
        ),
        ...Array.from({ length: GONE }, (_, i) =>
          sandboxRow(sandboxId(hex('b', i)), { userId: ADA, createdAt: 10_000 + i, ...gone }),
        ),
        ...Array.from({ length: 5 }, (_, i) =>
          conversationRow(conversationId(hex('c', i)), {
            ...{ userId: ADA, sandboxId: sandboxId(hex('a', 17)), title: i === 4 ? HOSTILE : `Inside ${i}` },
            updatedAt: 1_000 + i,
          }),
        ),
      ]);
      await open('sandboxes');
      const rows = page.getByRole('row');
      const first = rows.nth(1);
      await first.getByText('a0000000').waitFor();
      expect(await rows.count()).toBe(1 + LIVING);
      await first.getByRole('link', { name: HOSTILE }).waitFor();
      await first.getByText('and 2 more').waitFor();

      await page.getByLabel('Status', { exact: true }).selectOption('MISSING');
      await first.getByText('Missing').waitFor();
      expect(await rows.count()).toBe(1 + 50);
      expect(new URL(page.url()).search).toBe('?status=MISSING');
      await page.getByRole('button', { name: 'Created' }).click();
      await page
        .getByRole('columnheader', { name: 'Created' })
        .and(page.locator('[aria-sort="ascending"]'))
        .waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('Page 2').waitFor();
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByText('Page 3').waitFor();
      await expect.poll(() => rows.count()).toBe(1 + GONE - 100);
      await page.reload();
      await page.getByText('Page 3').waitFor();
      await expect.poll(() => rows.count()).toBe(1 + GONE - 100);
      await page.goBack();
      await page.getByText('Page 2').waitFor();
      await page.getByRole('button', { name: 'Back', exact: true }).click();
      await page.getByText('Page 1').waitFor();
      await page.getByLabel('Id begins with').fill(hex('b', 15));
      await expect.poll(() => rows.count()).toBe(2);
      await page.getByLabel('Id begins with').fill('ffff');
      await page.getByText('No sandbox is so.').waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      await expect.poll(() => rows.count()).toBe(1 + LIVING);
      await open('sandboxes?status=nonsense&page=%00&sort=x&id=zz');
      await expect.poll(() => rows.count()).toBe(1 + LIVING);
      expect(await findings(world)).toEqual([]);
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'change several conversations at once, ask before something is lost, and say how each went',
    async () => {
      const world = await openPageWorld();
      const { page, open, service, watched } = world;
      for (const title of ['First', HOSTILE, 'Third']) await startReady(service, { title });
      await service.store.records.project([
        conversationRow(conversationId(hex('c', 1)), {
          userId: ADA,
          title: 'Nowhere',
          tags: {},
          createdAt: 5,
        }),
      ]);
      await open('conversations');
      await page.getByRole('link', { name: 'Nowhere' }).waitFor();
      const bar = page.getByRole('region', { name: 'Selected rows' });
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      expect(await button('Delete selected').isDisabled()).toBe(true);
      await page.getByLabel('All of this page').check();
      await bar.getByText('4 selected').waitFor();
      await page.getByLabel('Select Third').uncheck();
      await button('Stop selected').click();
      const dialog = page.getByRole('dialog', { name: 'Stop 3 selected?' });
      await dialog.getByText(HOSTILE).waitFor();
      expect(await findings(world)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await button('Stop selected').click();
      await button('Stop 3').click();
      const outcomes = page.getByRole('list', { name: 'How it went' });
      await outcomes.getByText('First: done').waitFor();
      await outcomes.getByText(`${HOSTILE}: done`).waitFor();
      await outcomes.getByText('Nowhere: it has no sandbox that could be asked').waitFor();
      await bar.getByText('Stop: 2 done, 1 not.').waitFor();
      await page.getByRole('row', { name: /First/ }).getByText('Paused').waitFor();
      await page.getByLabel('Select Nowhere').uncheck();
      await page.getByLabel('Select First').check();
      await button('Resume selected').click();
      await page.getByRole('row', { name: /First/ }).getByText('Running').waitFor();
      await page.getByLabel(`Select ${HOSTILE}`).check();
      await button('Delete selected').click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete 1', exact: true }).click();
      await page.getByRole('link', { name: HOSTILE }).waitFor({ state: 'detached' });
      await eventually(
        async () => (await service.call({ path: '/api/v1/app-conversations/count' })).body,
        (count) => count === 3,
      );
      expect([watched.violations, watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'filter conversations by agent, sandbox, tag and day, and a conversation gets another title and tags',
    async () => {
      const { page, open, service, watched } = await openPageWorld();
      const { id } = await startReady(service, { title: 'Blue one', tags: { team: 'blue' } });
      await service.store.records.project([
        conversationRow(conversationId(hex('c', 2)), {
          ...{
            userId: ADA,
            title: 'Long ago',
            tags: { team: 'red' },
            createdAt: 5_000,
            executionStatus: 'ERROR',
          },
        }),
      ]);
      await open('conversations');
      const titles = () => page.getByRole('rowheader').allInnerTexts();
      const shows = async (...wanted: string[]) =>
        expect.poll(async () => (await titles()).map((text) => text.split('\n')[0]?.trim())).toEqual(wanted);
      await shows('Blue one', 'Long ago');
      await page.getByRole('button', { name: 'Title', exact: true }).click();
      await shows('Long ago', 'Blue one');
      await page.getByLabel('Tag (name=value)').fill('team=blue');
      await shows('Blue one');
      await page.getByLabel('Tag (name=value)').fill('');
      await page.getByLabel('Agent', { exact: true }).selectOption('ERROR');
      await shows('Long ago');
      await page.getByLabel('Agent', { exact: true }).selectOption('');
      await page.getByLabel('Created from').fill('2020-01-01');
      await shows('Blue one');
      await page.getByLabel('Created from').fill('');
      await page.getByLabel('Status of the sandbox').selectOption('RUNNING');
      await shows('Blue one');
      await page.getByLabel('Title contains').fill('nothing');
      await page.getByText('No conversation is so.').waitFor();

      await open(`conversations/${id}`);
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Title and tags' });
      await dialog.getByLabel('Title', { exact: true }).fill(HOSTILE);
      await dialog.getByLabel('Tags').fill('Team=blue');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('alert').waitFor();
      await dialog.getByLabel('Tags').fill('team=green\nnote=<b>x</b>');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
      await page.getByLabel('Facts').getByText('note=<b>x</b>').waitFor();
      const [record] = (await service.call({ path: `/api/v1/app-conversations?ids=${id}` })).body;
      expect([record.title, record.tags]).toEqual([HOSTILE, { team: 'green', note: '<b>x</b>' }]);
      expect([watched.violations, watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'begin a conversation with a model, tags, secrets and plugins, and it is called after what it is asked',
    async () => {
      const { page, open, service, watched } = await openPageWorld();
      const put = { method: 'POST', path: '/api/v1/secrets' };
      await service.call({ ...put, body: { name: 'STORED_TOKEN', value: 'stored-value' } });
      await open('conversations');
      await page.getByRole('button', { name: 'Start a conversation' }).click();
      const dialog = page.getByRole('dialog', { name: 'Start a conversation' });
      await dialog.getByLabel('Message', { exact: true }).fill('# Sort the imports\nof every file');
      await dialog.getByText('Model, tags, secrets, plugins').click();
      await dialog.getByLabel('Model', { exact: true }).selectOption('small');
      await dialog.getByLabel('Tags').fill('team=blue');
      await dialog.getByText('Stored ones come along: STORED_TOKEN.').waitFor();
      await dialog.getByRole('button', { name: 'Add a secret' }).click();
      await dialog.getByLabel('Name of secret 1').fill('OWN_TOKEN');
      await dialog.getByLabel('Value of secret 1').fill('own-value-never-shown');
      await dialog.getByLabel('Plugins').fill('acme/plugins@v1 plugins/review\nacme/other');
      await dialog.getByRole('button', { name: 'Start', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Sort the imports of every file' }).waitFor();
      const [task] = (await service.call({ path: '/api/v1/app-conversations/start-tasks/search' })).body
        .items;
      expect(task.request).toMatchObject({
        ...{ llm_model: 'small', tags: { team: 'blue' }, secrets: { OWN_TOKEN: '**********' } },
        plugins: [
          { source: 'acme/plugins', ref: 'v1', repo_path: 'plugins/review' },
          { source: 'acme/other' },
        ],
      });
      expect(await page.content()).not.toContain('own-value-never-shown');
      expect([watched.violations, watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );
});
