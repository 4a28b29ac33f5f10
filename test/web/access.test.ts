/** Keys, secrets and the audit log in headless Chromium: shown once, never shown, and searched by the server. */
import { expect, it } from 'vitest';
import { nanoUsd } from '../../core/money/money.ts';
import { spendRow } from '../contract/store-rows.ts';
import { describeWith } from '../helpers/requires.ts';
import { findings } from './findings.ts';
import { openPageWorld } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const HOSTILE = '<img src=x onerror=attacked(1)>';

describeWith('chromium', 'keys, secrets and audit', () => {
  it(
    'makes an API key that is shown once, and revokes it after a question',
    async () => {
      const world = await openPageWorld();
      const { page, open, service, watched } = world;
      await open('keys');
      const section = page.getByRole('region', { name: 'API keys' });
      await section.getByRole('row', { name: /^ada/ }).waitFor();
      await page.getByRole('button', { name: 'Make a key' }).click();
      const dialog = page.getByRole('dialog', { name: 'Make a key for ada' });
      await dialog.getByLabel('Name').fill(HOSTILE);
      expect(await findings(world)).toEqual([]);
      await dialog.getByRole('button', { name: 'Make the key' }).click();
      const shown = page.getByLabel('The new key');
      await shown.waitFor();
      const key = await shown.inputValue();
      expect((await service.call({ path: '/api/keys/current', key })).body).toMatchObject({
        ...{ name: HOSTILE, scope: 'user', user_id: 'ada' },
      });
      expect(await findings(world)).toEqual([]);
      await page.getByRole('button', { name: 'I have it' }).click();
      await shown.waitFor({ state: 'detached' });
      await page.reload();
      await section.getByRole('rowheader', { name: HOSTILE }).waitFor();
      expect(await page.content()).not.toContain(key);
      await page.getByRole('button', { name: `Revoke ${HOSTILE}` }).click();
      await page.getByRole('button', { name: 'Revoke key' }).click();
      await section.getByRole('rowheader', { name: HOSTILE }).waitFor({ state: 'detached' });
      expect((await service.call({ path: '/api/keys/current', key })).status).toBe(401);
      await section.getByLabel('Of the user').fill('ben');
      await section.getByRole('row', { name: /^ben/ }).waitFor();
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
      expect(watched.addresses.filter((address) => address.includes(key))).toEqual([]);
    },
    ALL_MS_MAX,
  );

  it(
    'shows virtual keys with what each has spent, blocks and removes them',
    async () => {
      const { page, open, service } = await openPageWorld();
      const { proxyKeys } = service.application;
      const key = {
        ...{ hash: 'd'.repeat(64), name: 'ci', tail: 'abcd', createdAt: 1_000, expiresAt: null },
        ...{ team: HOSTILE, userId: null, models: ['coder'], rpm: 10, tpm: null, parallelMax: null },
        ...{
          budgetNanoUsd: 2_000_000_000,
          budgetWindowMs: null,
          tags: [HOSTILE],
          metadata: {},
          isBlocked: false,
        },
      };
      await proxyKeys.put(key);
      await proxyKeys.put({ ...key, hash: 'e'.repeat(64), name: 'other', budgetNanoUsd: null });
      await service.store.spend.write([
        spendRow('x', { keyName: 'ci', startedAt: 2_000, cost: nanoUsd(500_000_000) }),
      ]);
      await open('keys');
      const section = page.getByRole('region', { name: 'Virtual keys of the proxy' });
      const row = section.getByRole('row', { name: /^ci/ });
      await row.getByText('$0.5000 of $2.00').waitFor();
      await row.getByRole('meter', { name: 'Spend of ci' }).waitFor();
      await row.getByText(HOSTILE).first().waitFor();
      await section.getByRole('button', { name: 'Block ci' }).click();
      await row.getByText('blocked').waitFor();
      expect((await proxyKeys.find(key.hash))?.isBlocked).toBe(true);
      await section.getByRole('button', { name: 'Unblock ci' }).click();
      await section.getByRole('button', { name: 'Block ci' }).waitFor();
      await section.getByLabel('Name contains').fill('oth');
      await row.waitFor({ state: 'detached' });
      await section.getByRole('button', { name: 'Remove other' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove key' }).click();
      await section.getByText('No name holds this text.').waitFor();
      expect(await proxyKeys.find('e'.repeat(64))).toBeNull();
    },
    ALL_MS_MAX,
  );

  it(
    'stores, replaces, describes and deletes a secret, and no value is in the page',
    async () => {
      const world = await openPageWorld();
      const { page, open, service, watched } = world;
      await open('secrets');
      await page.getByText('No secret is stored.').waitFor();
      const save = page.getByRole('dialog').getByRole('button', { name: 'Save' });
      await page.getByRole('button', { name: 'Store a secret' }).click();
      await page.getByLabel('Name', { exact: true }).fill('DEPLOY_TOKEN');
      await page.getByLabel('Value', { exact: true }).fill('first-value-of-it');
      await page.getByLabel('Description', { exact: true }).fill(HOSTILE);
      expect(await findings(world)).toEqual([]);
      await save.click();
      const row = page.getByRole('row', { name: /^DEPLOY_TOKEN/ });
      await row.getByText(HOSTILE).waitFor();
      const value = () => service.world.vault.get('user/ada', 'DEPLOY_TOKEN');
      expect(await value()).toBe('first-value-of-it');
      await page.getByRole('button', { name: 'Replace DEPLOY_TOKEN' }).click();
      expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('');
      await page.getByLabel('Value', { exact: true }).fill('second-value-of-it');
      await save.click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await value()).toBe('second-value-of-it');
      await page.getByRole('button', { name: 'Describe DEPLOY_TOKEN' }).click();
      await page.getByLabel('Description', { exact: true }).fill('For deployments.');
      await save.click();
      await row.getByText('For deployments.').waitFor();
      expect(await value()).toBe('second-value-of-it');
      const text = await page.content();
      expect([text.includes('first-value'), text.includes('second-value')]).toEqual([false, false]);
      await page.getByRole('button', { name: 'Delete DEPLOY_TOKEN' }).click();
      await page.getByRole('button', { name: 'Delete secret' }).click();
      await page.getByText('No secret is stored.').waitFor();
      expect(await value()).toBeNull();
      expect([watched.violations, watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'searches the audit log by user, action, object, day and outcome, page by page',
    async () => {
      const world = await openPageWorld();
      const { page, open, service, watched } = world;
      const { audit } = service.application;
      const entry = { userId: 'ada', keyId: 1, action: 'store_secret', about: '', status: 201 };
      for (let i = 0; i < 60; i += 1) await audit.append({ ...entry, at: Date.UTC(2024, 0, 5, 12, i) });
      await audit.append({
        ...entry,
        userId: HOSTILE,
        action: 'revoke_key',
        about: HOSTILE,
        at: Date.UTC(2025, 5, 5, 12),
      });
      await service.call({ method: 'DELETE', path: `/api/v1/secrets/${encodeURIComponent(HOSTILE)}` });
      await open('audit');
      const rows = page.getByRole('row');
      const count = (wanted: number) => expect.poll(() => rows.count()).toBe(1 + wanted);
      await count(50);
      await page.getByRole('button', { name: 'Next' }).click();
      await count(12);
      await page.getByLabel('Outcome').selectOption('refused');
      await count(1);
      await rows.nth(1).getByText('404').waitFor();
      await page.getByLabel('Outcome').selectOption('');
      await page.getByLabel('About contains').fill('ONERROR');
      await count(2);
      await page.getByLabel('Action').selectOption('revoke_key');
      await count(1);
      await rows.nth(1).getByText(HOSTILE).first().waitFor();
      await page.getByLabel('About contains').fill('');
      await page.getByLabel('User').fill(HOSTILE);
      await count(1);
      await page.getByLabel('User').fill('');
      await page.getByLabel('Action').selectOption('');
      await page.getByLabel('From').fill('2025-06-01');
      await page.getByLabel('Until').fill('2025-06-30');
      await count(1);
      expect(new URL(page.url()).search).toBe('?from=2025-06-01&until=2025-06-30');
      const time = rows.nth(1).locator('time');
      expect(await time.getAttribute('title')).toContain('2025-06-05 12:00:00 UTC');
      await page.reload();
      await count(1);
      expect(await findings(world)).toEqual([]);
      expect([watched.violations, watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );
});
