/** One conversation in headless Chromium: what is said in it, how far back one can go, and what it costs a browser. */
import { expect, it } from 'vitest';
import { conversationId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { startReady } from '../api/service.ts';
import { describeWith } from '../helpers/requires.ts';
import { HOSTILE } from './hostile-texts.ts';
import { calmest, heapBytes, LONG_TASK_MS_MAX, observe, PAINT_MS_MAX } from './observed.ts';
import { action, message, observation, openPageWorld, SAID_AT } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const MANY = 10_000;

describeWith('chromium', 'the page of a conversation', () => {
  it(
    'shows Markdown, code, and each action with its result, exit code, duration and cost',
    async () => {
      const { service, page, open, say, watched } = await openPageWorld();
      const { id } = await startReady(service);
      await service.world.spend.write([
        {
          ...{ callId: 'call-1', state: 'succeeded', startedAt: SAID_AT, endedAt: SAID_AT + 500 },
          ...{ route: '/v1/chat/completions', modelName: 'coder', upstreamModel: 'x', streamed: false },
          ...{ httpStatus: 200, responseId: 'response-1', sessionId: conversationId(id), user: null },
          ...{ keyName: 'k', promptTokens: 1_200, completionTokens: 34, cachedTokens: 0 },
          ...{ cost: nanoUsd(12_300_000), costSource: 'entry', metadata: null },
        },
      ]);
      await say(id, [
        message('Please **list** the files.', 'user'),
        action({ id: 'one', action: { command: 'ls --color' }, responseId: 'response-1' }),
        observation('one', 'plain \u001b[31mred\u001b[0m', 3),
        message('# Found\n\n- `a.txt`\n\n```ts\nconst answer = 42;\n```'),
      ]);
      await open(`conversations/${id}`);
      const log = page.getByRole('log');
      await log.getByText('exit 3').waitFor();
      await log.getByText('1.0 s').waitFor();
      await log.getByText('$0.0123').waitFor();
      await log.locator('strong', { hasText: 'list' }).waitFor();
      await log.locator('[style*="--ansi-1"]', { hasText: 'red' }).waitFor();
      await log.locator('.code-keyword', { hasText: 'const' }).waitFor();
      const figures = log.locator('.event-action');
      expect(await figures.count()).toBe(1);
      expect(await figures.locator('time').getAttribute('title')).toMatch(/^2026-01-01 00:00:\d\d UTC$/);

      // It is live, and the last answer stands open however long it is.
      const long = Array.from({ length: 80 }, (_, at) => `Line ${at} of the answer.`).join('\n\n');
      await say(id, [action({ id: 'end', tool: 'finish', action: { message: long } })]);
      await log.getByText('Line 79 of the answer.').waitFor();
      expect(await log.locator('details').count()).toBe(0);
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.getByRole('row', { name: /coder/ }).getByText('1,200').waitFor();
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );

  it(
    'shows the whole of what an agent asks about: a command, and an edit with old and new side by side',
    async () => {
      const { service, page, open, say } = await openPageWorld();
      service.agent.outcome = 'WAITING_FOR_CONFIRMATION';
      const { id } = await startReady(service, {
        initial_message: { content: [{ type: 'text', text: 'Clean up.' }] },
      });
      const last = `echo ${'x'.repeat(9_000)} the-end`;
      await say(id, [
        action({ id: 'one', summary: 'Remove files', action: { command: last } }),
        action({
          ...{ id: 'two', tool: 'file_editor', summary: 'Change a word' },
          action: { command: 'str_replace', path: '/w/a.ts', old_str: 'let a = 1;', new_str: 'let a = 2;' },
        }),
      ]);
      await open(`conversations/${id}`);
      const bar = page.getByRole('region', { name: 'Confirmation' });
      await bar.getByText('the-end').waitFor();
      const edit = bar.getByRole('table', { name: 'Changes of /w/a.ts' });
      await edit.locator('td.diff-removed', { hasText: 'let a = 1;' }).waitFor();
      const row = edit.locator('tbody tr').first();
      expect(await row.locator('td').nth(3).textContent()).toBe('+let a = 2;');
    },
    ALL_MS_MAX,
  );

  it(
    'is soon there with 10,000 events, goes back to the first, and finds words in all of them',
    async () => {
      const { service, page, open, say, watched } = await openPageWorld();
      const { id } = await startReady(service);
      for (let at = 0; at < MANY; at += 500)
        await say(
          id,
          Array.from({ length: 500 }, (_, index) =>
            message(
              at + index === 1_234 ? 'the **needle** of it' : `Message ${at + index}\n\n- with \`code\``,
            ),
          ),
        );
      await observe(page, '[data-seq]');
      const log = page.getByRole('log');
      const seen = await calmest(page, async () => {
        await open(`conversations/${id}`);
        await log.getByText(`Message ${MANY - 1}`, { exact: true }).waitFor();
      });
      console.log(`10,000 events: ${JSON.stringify(seen)}`);
      expect(seen.paintMs).toBeLessThanOrEqual(PAINT_MS_MAX);
      expect(seen.longMs).toBeLessThanOrEqual(LONG_TASK_MS_MAX);
      expect(await log.locator('[data-seq]').count()).toBeLessThan(150);

      const words = page.getByLabel('Search this conversation');
      await words.fill('NEEDLE');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /needle/ }).click();
      await log.locator('.event-target strong', { hasText: 'needle' }).waitFor();
      await page.getByRole('button', { name: 'Load earlier events' }).click();
      await log.getByText('Message 1180', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Go to the newest' }).click();
      await log.getByText(`Message ${MANY - 1}`, { exact: true }).waitFor();

      const stream = async (from: number, count: number): Promise<void> => {
        for (let at = from; at < from + count; at += 100)
          await say(
            id,
            Array.from({ length: 100 }, (_, index) => message(`Streamed ${at + index}`)),
          );
        await log.getByText(`Streamed ${from + count - 1}`, { exact: true }).waitFor();
      };
      await stream(0, 1_000);
      const before = await heapBytes(page);
      await stream(1_000, 2_000);
      const after = await heapBytes(page);
      console.log(`heap while streaming: ${before} → ${after}`);
      expect(after).toBeLessThan(before * 1.15);
      expect(await log.locator('[data-seq]').count()).toBeLessThanOrEqual(600);
      let streamed = 3_000;
      const { longMs } = await calmest(page, async () => {
        await stream(streamed, 500);
        streamed += 500;
      });
      console.log(`longest task while streaming: ${longMs} ms`);
      expect(longMs).toBeLessThanOrEqual(LONG_TASK_MS_MAX);
      expect(watched.errors).toEqual([]);
    },
    ALL_MS_MAX,
  );

  it(
    'leaves every text that attacks it a text',
    async () => {
      const { service, page, open, say, watched } = await openPageWorld();
      await page.addInitScript({
        content: 'window.attacks = []; window.attacked = (by) => window.attacks.push(by);',
      });
      const title = '<img src=x onerror=attacked(1)>';
      const { id } = await startReady(service, { title, tags: { team: '<svg onload=attacked(1)>' } });
      expect(HOSTILE.length).toBeGreaterThanOrEqual(60);
      for (const [at, text] of HOSTILE.entries())
        await say(id, [
          message(text),
          message(text, 'user'),
          action({ id: `act-${at}`, tool: text.slice(0, 60), summary: text, action: { command: text } }),
          observation(`act-${at}`, text),
        ]);
      await say(id, [message('That was all.')]);
      await open(`conversations/${id}`);
      const log = page.getByRole('log');
      await log.getByText('That was all.').waitFor();
      const more = page.getByRole('button', { name: 'Load earlier events' });
      while (await more.isVisible()) {
        const first = (): Promise<string | null> =>
          log.locator('[data-seq]').first().getAttribute('data-seq');
        const before = await first();
        await more.click();
        // Not by a function in the page: its policy lets no script make code of a text.
        await expect.poll(first, { timeout: 10_000 }).not.toBe(before);
      }
      const found = (await page.evaluate(
        `[...document.querySelectorAll('.transcript script, .transcript img, .transcript iframe, .transcript svg, .transcript object, .transcript style, .transcript form, .transcript [onerror], .transcript [onload], .transcript [style*=url]')].map((one) => one.outerHTML)`,
      )) as string[];
      const addresses = (await page.evaluate(
        `[...document.querySelectorAll('.transcript a')].map((one) => one.protocol)`,
      )) as string[];
      expect({ found, attacks: await page.evaluate('window.attacks') }).toEqual({ found: [], attacks: [] });
      expect(addresses.filter((one) => !['https:', 'http:', 'mailto:'].includes(one))).toEqual([]);
      await open('conversations');
      await page.getByRole('link', { name: title }).waitFor();
      expect([await page.evaluate('window.attacks'), watched.outside, watched.errors]).toEqual([[], [], []]);
      expect(watched.violations).toEqual([]);
    },
    ALL_MS_MAX,
  );
});
