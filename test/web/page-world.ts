/**
 * The console on a whole service in the test's own process, with a browser that is signed in.
 * Owns the start and the end; runtime and agent are models, and what an agent says is put into the log by the test.
 */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { appendEvents } from '../../activities/transcript.ts';
import { extendApplication } from '../../api/application/extend.ts';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { startApplicationServer, type ApplicationServer } from '../../api/application/server.ts';
import { registerConsole } from '../../api/console/console-files.ts';
import { conversationId } from '../../core/ids.ts';
import { openService, type Service, type ServiceOptions } from '../api/service.ts';
import { ROOT } from '../cli/parley-program.ts';
import { openBrowser, PATIENCE_MS, watch, type Watched } from './browser.ts';

export interface PageWorld {
  readonly service: Service;
  readonly watched: Watched;
  readonly page: Page;
  readonly url: string;
  open(address: string): Promise<void>;
  /** A tab of its own beside the page, signed in as it is; at the address once `before` is done. */
  openTab(address: string, before?: (tab: Page) => Promise<void>): Promise<Page>;
  /** What an agent would say; ids and instants are given here, a second apart. */
  say(id: string, events: readonly object[]): Promise<void>;
  /** The service is gone: nothing listens any more. */
  stop(): Promise<void>;
  /** It is back at the same address. */
  startAgain(): Promise<void>;
}

/** Events of an agent begin here. */
export const SAID_AT = Date.UTC(2026, 0, 1);

export async function openPageWorld(options: ServiceOptions = {}): Promise<PageWorld> {
  const service = await openService(options);
  let server = await listen(service, 0);
  const { url } = server;
  const watched = await openBrowser(url);
  onTestFinished(async () => {
    await watched.close();
    await server.close();
  });
  const { page } = watched;
  await signIn(page, url, service.ada);
  let said = 0;
  return {
    ...{ service, watched, page, url },
    open: async (address) => void (await page.goto(`${url}/console/${address}`)),
    async openTab(address, before = () => Promise.resolve()) {
      // Opened by the page, so that the key of its session comes along.
      const opening = page.waitForEvent('popup');
      await page.evaluate("void window.open('about:blank')");
      const tab = await opening;
      tab.setDefaultTimeout(PATIENCE_MS);
      watch(tab, watched);
      await before(tab);
      await tab.goto(`${url}/console/${address}`);
      return tab;
    },
    async say(id, events) {
      const whole = events.map((one) => {
        said += 1;
        const timestamp = new Date(SAID_AT + said * 1_000).toISOString().replace('Z', '000');
        return { id: `said-${said}`, timestamp, source: 'agent', kind: 'MessageEvent', ...one };
      });
      await appendEvents(service.world, conversationId(id), whole);
    },
    stop: () => server.close(),
    async startAgain() {
      server = await listen(service, Number(new URL(url).port));
    },
  };
}

/** As a user who holds the key. */
export async function signIn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(`${url}/console/`);
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}

function listen({ application }: Service, port: number): Promise<ApplicationServer> {
  const extend = extendApplication(application);
  return startApplicationServer(application, {
    ...{ at: { host: '127.0.0.1', port }, routes: APPLICATION_ROUTES, log: () => undefined },
    extend(app, gate) {
      extend(app, gate);
      registerConsole(app, path.join(ROOT, 'dist/web'));
    },
  });
}

export function message(text: string, source: 'user' | 'agent' = 'agent'): object {
  return { kind: 'MessageEvent', source, llm_message: { content: [{ type: 'text', text }] } };
}

export interface ActionOptions {
  readonly id: string;
  readonly tool?: string;
  readonly summary?: string;
  readonly action: object;
  readonly responseId?: string;
}

export function action({
  id,
  tool = 'terminal',
  summary = '',
  action: of,
  responseId,
}: ActionOptions): object {
  return {
    ...{ id, kind: 'ActionEvent', tool_name: tool, tool_call_id: `call-${id}`, summary, action: of },
    ...{ security_risk: 'HIGH', llm_response_id: responseId ?? `response-${id}` },
  };
}

export function observation(of: string, text: string, code = 0): object {
  return {
    ...{ kind: 'ObservationEvent', source: 'environment', tool_name: 'terminal', action_id: of },
    tool_call_id: `call-${of}`,
    observation: { content: [{ type: 'text', text }], exit_code: code, is_error: false },
  };
}
