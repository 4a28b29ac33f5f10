/**
 * Headless Chromium on one console, watched: what leaves this machine, what the policy refuses, what fails in the page.
 * Owns the browser and the pictures; must not know a page.
 */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

export interface Watched {
  /** Closes the pages; the browser stays for the next test that opens one. */
  close(): Promise<void>;
  readonly page: Page;
  /** Addresses of other hosts that were requested; none of them was reached. */
  readonly outside: string[];
  /** What the content security policy has refused. */
  readonly violations: string[];
  /** Errors of the page itself. */
  readonly errors: string[];
  /** Every address that was requested. */
  readonly addresses: string[];
}

export const WIDE = { width: 1360, height: 900 } as const;
export const NARROW = { width: 420, height: 860 } as const;
/** A page that is not there by then will not come; machines of CI are slow. */
export const PATIENCE_MS = 60_000;

/** `url` without its last slash; whatever is not below it is outside. */
export async function openBrowser(
  url: string,
  options: { readonly javaScriptEnabled?: boolean } = {},
): Promise<Watched> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({
    ...{ viewport: WIDE, colorScheme: 'light', acceptDownloads: true },
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const seen: Omit<Watched, 'close' | 'page'> = { outside: [], violations: [], errors: [], addresses: [] };
  await context.route('**/*', (route) => {
    const address = route.request().url();
    seen.addresses.push(address);
    if (address.startsWith(`${url}/`) || address.startsWith('blob:')) return route.continue();
    seen.outside.push(address);
    return route.abort();
  });
  watch(page, seen);
  await context.exposeFunction('violated', (text: string) => void seen.violations.push(text));
  await context.addInitScript({
    content:
      "document.addEventListener('securitypolicyviolation', (one) => window.violated(one.violatedDirective + ' ' + one.blockedURI));",
  });
  return { close: () => context.close(), page, ...seen };
}

let shared: Promise<Browser> | null = null;

/** One for all tests of a worker: it ends with the pipe to the process that has started it. */
async function sharedBrowser(): Promise<Browser> {
  const running = await shared;
  if (running?.isConnected() === true) return running;
  shared = chromium.launch({ executablePath: chromiumProgram(), args: ['--disable-gpu'] });
  return await shared;
}

/** Keeps what fails in a page, and what its policy refuses. */
export function watch(page: Page, { errors, violations }: Pick<Watched, 'errors' | 'violations'>): void {
  page.on('pageerror', (error) => void errors.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    if (/content security policy|trusted/i.test(text)) violations.push(text);
  });
}

/** A picture of the whole page; a file that is too small is a blank one. */
export async function picture(page: Page, folder: string, name: string): Promise<number> {
  const file = path.join(folder, `${name}.png`);
  await page.screenshot({ path: file, fullPage: true, animations: 'disabled' });
  return statSync(file).size;
}

/** The one that the search path leads to, as the probe of the tests finds it. */
function chromiumProgram(): string {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = folders.map((folder) => path.join(folder, 'chromium')).find((file) => existsSync(file));
  if (found === undefined) throw new Error('Cannot open a browser: chromium is on no path');
  return found;
}
