/** The overview in headless Chromium: capacity, who waits, spend, budgets and trouble, for administrators and for users. */
import { expect, it } from 'vitest';
import { conversationId, runId, sandboxId, userId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { startReady, type Service } from '../api/service.ts';
import { conversationRow, runRow, sandboxRow, spendRow } from '../contract/store-rows.ts';
import { describeWith } from '../helpers/requires.ts';
import { findings } from './findings.ts';
import { openPageWorld, signIn } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const HOSTILE = '<img src=x onerror=attacked(1)>';
const USD = 1_000_000_000;

/** A deployment at its limit, with money spent and things gone wrong. */
async function fill(service: Service): Promise<void> {
  const { store } = service;
  await startReady(service);
  await startReady(service);
  const start = (title: string, key: string) =>
    service.call({ method: 'POST', path: '/api/v1/app-conversations', key, body: { title } });
  await start(HOSTILE, service.ada);
  await start('Of Ben', service.ben);
  const now = Date.now();
  const id = conversationId('a'.repeat(32));
  await store.records.project([
    conversationRow(id, {
      ...{ userId: userId('ben'), startTask: 'ERROR', startTaskDetail: `no branch ${HOSTILE}` },
      ...{ title: 'Broken', tags: { team: 'blue' }, updatedAt: now },
    }),
    sandboxRow(sandboxId('5'.repeat(32)), {
      ...{ status: 'MISSING', detail: 'runtime_gone', createdAt: now, holdsSlot: false, available: false },
    }),
    runRow({
      ...{ runId: runId('nightly-1'), name: 'nightly', phase: 'running', reason: 'breaker:infra' },
      ...{ total: 4, inFlight: 1, waiting: 2, ended: { succeeded: 1 }, spentNanoUsd: USD, endedAt: null },
      budget: { nanoUsd: 2 * USD, reserveNanoUsd: USD / 2, mode: 'enforce' },
    }),
  ]);
  const call = (callId: string, change: object) =>
    spendRow(callId, { startedAt: now - 60_000, endedAt: now, state: 'succeeded', user: null, ...change });
  await store.spend.write([
    call('a', { sessionId: id, modelName: 'coder', cost: nanoUsd(3 * USD) }),
    call('b', { sessionId: null, modelName: HOSTILE, cost: nanoUsd(USD), team: 'search', tags: ['night'] }),
    call('c', {
      sessionId: null,
      modelName: 'small',
      cost: nanoUsd(USD / 2),
      startedAt: now - 50 * 3_600_000,
    }),
  ]);
  await service.application.proxyKeys.put({
    ...{ hash: 'd'.repeat(64), name: 'ci', tail: 'abcd', createdAt: 1_000, expiresAt: null, team: null },
    ...{ userId: null, models: null, rpm: null, tpm: null, parallelMax: null, budgetNanoUsd: 4 * USD },
    ...{ budgetWindowMs: null, tags: [], metadata: {}, isBlocked: false },
  });
}

describeWith('chromium', 'the overview', () => {
  it(
    'shows slots, the line, spend by each dimension, budgets and trouble, and text stays text',
    async () => {
      const world = await openPageWorld({
        deployment: {
          capacity: { installationMax: 2, userMax: 2, conversationsPerSandboxMax: 5 },
          onFull: 'queue',
        },
      });
      const { page, open, service, watched } = world;
      await fill(service);
      await open('overview');
      const region = (name: string) => page.getByRole('region', { name, exact: true });
      await region('Capacity').getByText('2 of 2').first().waitFor();
      await region('Capacity').getByText('when all are taken, a start waits').waitFor();
      const line = region('Capacity').getByRole('group', { name: 'Waiting for a slot' });
      const first = line.getByRole('row').nth(1);
      await first.getByRole('link', { name: HOSTILE }).waitFor();
      expect(await first.innerText()).toMatch(/^1\s.*ada.*its user has all its slots/s);
      expect(await line.getByRole('row').nth(2).innerText()).toMatch(
        /Of Ben\s.*ben.*all slots of the installation are taken/s,
      );

      const spend = region('Spend');
      await spend.getByRole('img', { name: 'Spend by model: $4.50 in 8 bars' }).waitFor();
      expect(await spend.locator('canvas').count()).toBe(1);
      const table = spend.getByRole('group', { name: 'Spend by model' });
      const names = () => table.getByRole('rowheader').allInnerTexts();
      expect((await names()).map((text) => text.trim())).toEqual(['coder', HOSTILE, 'small', 'All']);
      await spend.getByText('By day, as figures').click();
      await spend.getByRole('group', { name: 'Spend over time' }).getByText('$3.00').waitFor();
      await spend.getByLabel('Span', { exact: true }).selectOption('1');
      await spend.getByRole('img', { name: /^Spend by model: \$4\.00 in 2[45] bars/ }).waitFor();
      await spend.getByLabel('By', { exact: true }).selectOption('tag');
      await spend.getByRole('row', { name: /^team=blue.*\$3\.00/ }).waitFor();
      await spend.getByRole('row', { name: /^All, each call once.*\$4\.00/ }).waitFor();
      expect(new URL(page.url()).search).toBe('?by=tag&span=1');
      await page.reload();
      await spend.getByRole('row', { name: /^night.*\$1\.00/ }).waitFor();
      await spend.getByLabel('By', { exact: true }).selectOption('team');
      await spend.getByRole('row', { name: /^No team.*\$3\.00/ }).waitFor();
      await page.locator('.u-over').hover();
      await spend.getByText(/^\d.*: \$/).waitFor();

      const budgets = region('Budgets');
      const run = budgets.getByRole('row', { name: /nightly/ });
      expect(await run.innerText()).toMatch(
        /\$1\.00 of \$2\.00, \$0\.5000 held\s+\$4\.00\s*above\s+nothing more begins/,
      );
      await budgets.getByRole('meter', { name: 'Budget of nightly' }).waitFor();
      await budgets.getByRole('row', { name: /^ci/ }).getByText('$0.00 of $4.00').waitFor();

      const trouble = region('Trouble');
      await trouble
        .getByRole('row', { name: /Start failed/ })
        .getByText(`no branch ${HOSTILE}`)
        .waitFor();
      await trouble
        .getByRole('row', { name: /Sandbox lost/ })
        .getByText('MISSING: runtime_gone')
        .waitFor();
      await trouble
        .getByRole('row', { name: /Run is held/ })
        .getByRole('link', { name: 'nightly' })
        .waitFor();

      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findings(world)).toEqual([]);
      }
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await findings(world)).toEqual([]);
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'shows the warm pool: what is wanted, ready and on its way, and nothing of it where there is none',
    async () => {
      const warmPool = { size: 3, maxAgeMs: 3_600_000, spec: 'as configured' };
      const { page, open, service, watched } = await openPageWorld({ deployment: { warmPool } });
      const { deployment, warmPool: pool } = service.world;
      for (const [digit, isReady] of [
        ['d', true],
        ['e', true],
        ['f', false],
      ] as const) {
        const id = sandboxId(digit.repeat(32));
        const now = Date.now();
        await pool.reserve({ sandboxId: id, spec: warmPool.spec, limits: deployment.capacity, now });
        service.runtime.up(id);
        if (isReady) await pool.ready(id, now);
      }
      await open('overview');
      const capacity = page.getByRole('region', { name: 'Capacity', exact: true });
      await capacity.getByText('2 of 3 ready').waitFor();
      await capacity.getByText('1 booting, 0 leaving').waitFor();
      // One is claimed, and the page says so by itself.
      await startReady(service);
      await capacity.getByText('1 of 3 ready').waitFor();
      expect([watched.violations, watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'shows a user what is its own, and says what is empty',
    async () => {
      const { page, service, url, watched } = await openPageWorld();
      const isChart = (address: string): boolean => address.includes('spend-chart');
      expect(watched.addresses.some(isChart)).toBe(false);
      await startReady(service);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await signIn(page, url, service.ben);
      await page.getByText('What is yours at this moment.').waitFor();
      await page.getByText('Nothing goes wrong, and nothing did in the last seven days.').waitFor();
      await page.getByText('No model was called in this time.').waitFor();
      await page.getByText('No run that goes on has a budget.').waitFor();
      expect(await page.getByText('Warm pool').count()).toBe(0);
      const holders = page.getByRole('list', { name: 'Slots by user' }).getByRole('listitem');
      expect(await holders.allInnerTexts()).toEqual([expect.stringMatching(/^ben\s+0 of 50$/)]);
      expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
      expect([watched.violations, watched.errors]).toEqual([[], []]);
    },
    ALL_MS_MAX,
  );
});
