/**
 * The example of three hundred as it is shipped, on a real `parley serve`, looked at in Chromium.
 * Owns the preparation: the example's files are used as they are, but for isolation, which not every machine has, and for
 * the second answer of the model, which is late, so that a conversation stays at work while its pages are looked at.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { callServed, serve } from '../api/served.ts';
import type { ServiceAnswer } from '../api/service.ts';
import { ROOT } from '../cli/parley-program.ts';
import type { AtEnd } from '../helpers/end-process.ts';
import { openBrowser, type Watched } from './browser.ts';
import { signIn } from './page-world.ts';
import { startScriptedGateway } from '../scripted-gateway/started-gateway.ts';

export const EXAMPLE = path.join(ROOT, 'examples/three-hundred');
const KEY = 'sk-three-hundred';
/** Of the second answer. Ten at once and three hundred to do: the run would take a quarter of an hour. */
const LATE_MS = 30_000;

export interface ThreeHundred {
  readonly page: Page;
  readonly watched: Watched;
  open(address: string): Promise<unknown>;
  /** The body of a GET. */
  ask(route: string): Promise<ServiceAnswer['body']>;
}

export async function openThreeHundred(folder: string, atEnd: AtEnd): Promise<ThreeHundred> {
  const script = path.join(folder, 'gateway.yaml');
  const shipped = readFileSync(path.join(EXAMPLE, 'gateway.yaml'), 'utf8');
  writeFileSync(script, shipped.replace('- tool: finish', `- latency_ms: ${LATE_MS}\n        tool: finish`));
  const url = await startScriptedGateway(script, atEnd, { PARLEY_GATEWAY_KEY: KEY });
  const env = {
    ...{ PARLEY_GATEWAY_URL: `${url}/v1`, PARLEY_GATEWAY_KEY: KEY },
    PARLEY_GATEWAY_EXPORT: `${url}/spend/export`,
  };
  const config = readFileSync(path.join(EXAMPLE, 'parley.yaml'), 'utf8');
  const served = await serve(folder, {
    ...{ env, atEnd },
    config: config.replace('isolation: auto', 'isolation: none'),
  });
  const key = served.key ?? '';
  const watched = await openBrowser(served.url);
  atEnd(() => watched.close());
  await signIn(watched.page, served.url, key);
  return {
    ...{ page: watched.page, watched },
    open: (address) => watched.page.goto(`${served.url}/console/${address}`),
    ask: async (route) => (await callServed(served, key, { path: route })).body,
  };
}
