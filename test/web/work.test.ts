/** What came of a conversation, in headless Chromium: changes, files, skills and hooks; names and contents stay text. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { workspaceFacts } from '../../activities/in-sandbox.ts';
import { conversationId } from '../../core/ids.ts';
import { startReady } from '../api/service.ts';
import { describeWith } from '../helpers/requires.ts';
import { openPageWorld } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const HOSTILE_NAME = '<img src=x onerror=attacked(1)>.md';
/** The smallest picture there is: one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describeWith('chromium', 'work products', () => {
  it(
    'compares files with the beginning of the work, shows and downloads them, and has the skills that hold',
    async () => {
      const { service, page, open, watched } = await openPageWorld();
      const { id } = await startReady(service);
      const { workingDir } = await workspaceFacts(service.world, conversationId(id));
      const put = (name: string, content: string | Buffer): void => {
        const file = path.join(workingDir, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, content);
      };
      put('src/a.ts', 'export const answer = 42;\n');
      put(HOSTILE_NAME, '# <script>attacked(1)</script>\n\n![p](https://attacker.invalid/x.png)\n');
      put('pixel.png', Buffer.from(PIXEL, 'base64'));
      put('bytes.bin', Buffer.from([0, 1, 2, 255, 0]));
      put('.openhands/microagents/repo.md', 'Always run the tests.\n');
      service.agent.changes = [
        { path: 'src/a.ts', status: 'UPDATED' },
        { path: HOSTILE_NAME, status: 'ADDED' },
      ];
      service.agent.diff = { original: 'one\ntwo\n', modified: 'one\n<b>2</b>\nthree\n' };

      await open(`conversations/${id}/changes`);
      await page.getByRole('button', { name: 'a.ts' }).click();
      const table = page.getByRole('table', { name: 'Changes of src/a.ts' });
      await table.getByText('<b>2</b>').waitFor();
      expect(await table.locator('tr.diff-removed').count()).toBe(1);
      await page.getByRole('button', { name: 'Split' }).click();
      expect(await table.locator('td.diff-removed').textContent()).toBe('−two');
      await page.getByRole('button', { name: HOSTILE_NAME }).waitFor();

      await page.getByRole('link', { name: 'Files' }).click();
      await page.getByRole('button', { name: 'a.ts' }).click();
      await page.locator('.code-keyword', { hasText: 'export' }).waitFor();
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download file' }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe('a.ts');
      expect(readFileSync(await download.path(), 'utf8')).toBe('export const answer = 42;\n');
      await page.getByRole('button', { name: HOSTILE_NAME }).click();
      await page.getByRole('link', { name: '[picture: p]' }).waitFor();
      await page.getByRole('button', { name: 'pixel.png' }).click();
      const picture = page.getByRole('img', { name: 'pixel.png' });
      const width = (): Promise<unknown> => page.evaluate(`document.querySelector('canvas')?.width`);
      await expect.poll(width, { timeout: 10_000 }).toBe(1);
      await picture.waitFor();
      await page.getByRole('button', { name: 'bytes.bin' }).click();
      await page.getByText('It is no text: download it.').waitFor();

      await page.getByRole('link', { name: 'Skills and hooks' }).click();
      await page.getByText('The workspace configures none.').waitFor();
      expect([watched.outside, watched.violations, watched.errors]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );
});
