/** The example of three hundred in headless Chromium on a real `parley serve`: played, begun in the browser, and looked at while it works. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { callServed, serve } from '../api/served.ts';
import { eventually } from '../api/service.ts';
import { ROOT } from '../cli/parley-program.ts';
import { endProcess } from '../helpers/end-process.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { openBrowser, picture, WIDE } from './browser.ts';
import { findings } from './findings.ts';
import { signIn } from './page-world.ts';

const ALL_MS_MAX = 600_000;
const EXAMPLE = path.join(ROOT, 'examples/three-hundred');
const PHONE = { width: 390, height: 844 } as const;
const KEY = 'sk-three-hundred';
const PICTURE_BYTES_MIN = 10_000;

async function gatewayUrl(): Promise<string> {
  const program = path.join(ROOT, 'dist/scripted-gateway.js');
  const child = spawn(process.execPath, [program, path.join(EXAMPLE, 'gateway.yaml')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PARLEY_GATEWAY_KEY: KEY },
  });
  onTestFinished(() => endProcess(child));
  for await (const line of createInterface({ input: child.stdout }))
    return (JSON.parse(line) as { readonly url: string }).url;
  throw new Error('the gateway ended before it listened');
}

describeWith('chromium', 'the example of three hundred', () => {
  it(
    'is played and begun in the browser, and every list shows it at work, in light, dark and at 390 px',
    async () => {
      const folder = tempDir();
      const url = await gatewayUrl();
      const env = {
        ...{ PARLEY_GATEWAY_URL: `${url}/v1`, PARLEY_GATEWAY_KEY: KEY },
        PARLEY_GATEWAY_EXPORT: `${url}/spend/export`,
      };
      const config = readFileSync(path.join(EXAMPLE, 'parley.yaml'), 'utf8');
      const served = await serve(folder, {
        config: config.replace('isolation: auto', 'isolation: none'),
        env,
      });
      const key = served.key ?? '';
      const watched = await openBrowser(served.url);
      onTestFinished(() => watched.close());
      const { page } = watched;
      await signIn(page, served.url, key);
      const open = (address: string) => page.goto(`${served.url}/console/${address}`);
      await open('start-run');
      await page.getByLabel('Open a file').setInputFiles(path.join(EXAMPLE, 'job.yaml'));
      await page.getByRole('region', { name: 'Plan' }).getByText('writer 300').waitFor();
      await page.getByRole('button', { name: 'Simulate' }).click();
      await page.getByRole('img', { name: /^300 conversations by what they do/ }).waitFor();
      await page.getByRole('button', { name: /^Start the run/ }).click();
      await page.getByRole('heading', { level: 1, name: 'three-hundred' }).waitFor();

      const runs = async () =>
        (await callServed(served, key, { path: '/api/v1/runs/search' })).body.items as readonly {
          readonly id: string;
          readonly ended: Readonly<Record<string, number>>;
          readonly in_flight: number;
        }[];
      const [run] = await eventually(
        runs,
        ([one]) => (one?.ended['succeeded'] ?? 0) > 2 && one?.in_flight !== 0,
      );
      const pictures = process.env['PARLEY_CONSOLE_PICTURES'] ?? tempDir();
      mkdirSync(pictures, { recursive: true });
      const pages: readonly (readonly [name: string, address: string, seen: RegExp])[] = [
        ['overview', 'overview', /of 10/],
        ['conversations', 'conversations', /three-hundred: text\//],
        ['sandboxes', 'sandboxes', /three-hundred: text\//],
        ['runs', 'runs', /of 300, \d+ at work/],
        ['run', `runs/${run?.id ?? ''}`, /The next item waits/],
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
      }
      expect(found).toEqual([]);
      await page.getByRole('button', { name: 'Cancel run' }).click();
      await page.getByRole('button', { name: 'Cancel the run' }).click();
      await page.locator('.page-head').getByText('Finished').waitFor();
      expect([watched.violations, watched.errors, watched.outside]).toEqual([[], [], []]);
    },
    ALL_MS_MAX,
  );
});
