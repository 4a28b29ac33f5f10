/** What is not an event yet, in headless Chromium on a real `parley serve`: words as they come, lines of a command that runs. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { callServed, serve } from '../api/served.ts';
import { eventually } from '../api/service.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startScriptedGateway } from '../scripted-gateway/started-gateway.ts';
import { NARROW, openBrowser, picture, WIDE } from './browser.ts';
import { findings } from './findings.ts';
import { signIn } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const GATEWAY_KEY = 'sk-live';
const SECRET = 'live-secret-7788';
const HOSTILE = '<img src=x onerror=attacked(1)> **no Markdown**';

/** Some 30 pieces of a quarter of a second: longer than a page takes to be there. */
const scriptOf = (folder: string): string => `kind: gateway-script
version: 1
keys: [{ key: ${GATEWAY_KEY}, name: live }]
models: { vendor/small: { input: '150', output: '600' } }
scripts:
  - name: live
    turns:
      - say: I begin with the output of a command.
        tool: terminal
        arguments:
          command: 'for i in 1 2 3; do echo "line $i ${HOSTILE}"; printf "%s" "\${TOKEN:0:9}"; sleep 0.4; echo "\${TOKEN:9}"; done; until [ -e ${folder}/go ]; do sleep 0.1; done; echo the last line'
          security_risk: LOW
          summary: Print lines
      - say: 'The answer begins here, ${HOSTILE}, it goes on for quite a while so that one can see it grow word by word, with ${SECRET} in it, ${'and on '.repeat(20)}and ends here.'
        piece_ms: 250
        usage: { prompt: 1000, completion: 200 }
`;

async function startGateway(folder: string): Promise<string> {
  const script = path.join(folder, 'gateway.yaml');
  writeFileSync(script, scriptOf(folder));
  return await startScriptedGateway(script, onTestFinished);
}

const configOf = (gateway: string): string => `runtime: { isolation: none }
limits: { idle_time: 3600 }
proxy_config:
  model_list:
    - model_name: coder
      proxyvendor_params:
        model: openai/vendor/small
        api_base: ${gateway}/v1
        api_key: os.environ/VENDOR_KEY
        input_cost_per_token: '0.00015'
        output_cost_per_token: '0.0006'
`;

describeWith('chromium', 'a conversation at work', () => {
  it(
    'shows words and lines before their events are there, masked and as text, and charges the same',
    async () => {
      const folder = tempDir();
      const config = configOf(await startGateway(folder));
      const served = await serve(folder, { config, env: { VENDOR_KEY: GATEWAY_KEY } });
      const key = served.key ?? '';
      const watched = await openBrowser(served.url);
      onTestFinished(() => watched.close());
      const { page } = watched;
      await page.addInitScript({
        content: 'window.attacks = []; window.attacked = (by) => window.attacks.push(by);',
      });
      await signIn(page, served.url, key);
      const call = (method: string, route: string, body?: object) =>
        callServed(served, key, { method, path: route, ...(body === undefined ? {} : { body }) });
      const started = await call('POST', '/api/v1/app-conversations', {
        ...{ title: 'Live', llm_model: 'coder', secrets: { TOKEN: SECRET } },
      });
      const task = await eventually(
        async () =>
          (await call('GET', `/api/v1/app-conversations/start-tasks?ids=${started.body.id}`)).body[0],
        ({ status }) => status === 'READY' || status === 'ERROR',
      );
      expect(task).toMatchObject({ status: 'READY' });
      const id = task.app_conversation_id as string;
      await page.goto(`${served.url}/console/conversations/${id}`);
      const log = page.getByRole('log');
      await page.getByLabel('Message to the agent').fill('Begin.');
      await page.keyboard.press('Enter');

      const events = async (kind: string): Promise<readonly Record<string, unknown>[]> =>
        (await call('GET', `/api/v1/conversation/${id}/events/search?limit=100&kind__eq=${kind}`)).body.items;
      const output = page.getByRole('group', { name: 'Output so far' });
      await output.getByText('line 3').waitFor();
      expect(await events('ObservationEvent')).toEqual([]);
      expect(await output.textContent()).toContain(`line 1 ${HOSTILE}`);
      await expect.poll(() => output.textContent(), { timeout: 20_000 }).toContain('<secret-hidden>');
      expect(await output.textContent()).not.toMatch(/live-secr|et-7788/);
      writeFileSync(path.join(folder, 'go'), '');
      await log.getByText('the last line').waitFor();

      const writing = log.getByRole('listitem', { name: 'Agent is writing' });
      await writing.getByText('The answer begins here').waitFor();
      const early = (await writing.textContent()) ?? '';
      expect(await events('ObservationEvent')).toHaveLength(1);
      expect((await events('MessageEvent')).filter(({ source }) => source === 'agent')).toEqual([]);
      expect(early).not.toContain('and ends here');
      expect(await findings(watched)).toEqual([]);
      await page.setViewportSize(NARROW);
      expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(
        NARROW.width,
      );
      await page.setViewportSize(WIDE);
      const pictures = process.env['PARLEY_CONSOLE_PICTURES'];
      if (pictures !== undefined) await picture(page, pictures, 'live');
      await log.getByText('and ends here').first().waitFor();
      await writing.waitFor({ state: 'detached' });
      const [said] = (await events('MessageEvent')).filter(({ source }) => source === 'agent');
      expect(JSON.stringify(said)).toContain('<secret-hidden>');
      expect(await log.textContent()).not.toContain(SECRET);
      expect(await page.getByRole('group', { name: 'Output so far' }).count()).toBe(0);

      // Tokens of the script at the prices of the entry, to the nano-dollar.
      const { items } = (await call('GET', `/api/v1/app-conversations/${id}/calls/search?limit=100`)).body;
      expect(items).toHaveLength(2);
      expect(items[1]).toMatchObject({
        prompt_tokens: 1000,
        completion_tokens: 200,
        cost_nano_usd: 270_000_000,
      });
      expect([await page.evaluate('window.attacks'), watched.violations, watched.errors]).toEqual([
        [],
        [],
        [],
      ]);
    },
    ALL_MS_MAX,
  );
});
