/**
 * What a page costs a browser: when it is first painted, when what is waited for is there, the longest that it held all else up.
 * Owns the bounds that a console is held to.
 */
import type { Page } from 'playwright-core';

export const PAINT_MS_MAX = 300;
export const LONG_TASK_MS_MAX = 200;

export interface Observed {
  /** From the address being opened, in milliseconds; so is the next. */
  readonly paintMs: number;
  readonly firstMs: number;
  readonly longMs: number;
}

/** Of the addresses that are opened from now on; `selector` is what is waited for. */
export async function observe(page: Page, selector: string): Promise<void> {
  await page.addInitScript({ content: SCRIPT.replace('SELECTOR', JSON.stringify(selector)) });
}

export async function observed(page: Page): Promise<Observed> {
  return await page.evaluate<Observed>('window.seen');
}

/** What the page keeps, after what it does not is gone. */
export async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

/** Other programs hold a page up, too: of some loads the least of each counts. */
const LOADS_MAX = 5;

/** What `load` opens, or does anew, costs when the machine is calm; done again only while a bound is not kept. */
export async function calmest(page: Page, load: () => Promise<void>): Promise<Observed> {
  const least = { paintMs: Infinity, firstMs: Infinity, longMs: Infinity };
  for (let tries = 0; tries < LOADS_MAX; tries += 1) {
    await page.evaluate('void (window.seen && (window.seen.longMs = 0))');
    await load();
    const { paintMs, firstMs, longMs } = await observed(page);
    least.paintMs = Math.min(least.paintMs, paintMs);
    least.firstMs = Math.min(least.firstMs, firstMs);
    least.longMs = Math.min(least.longMs, longMs);
    if (least.paintMs <= PAINT_MS_MAX && least.longMs <= LONG_TASK_MS_MAX) break;
  }
  return least;
}

const SCRIPT = `
window.seen = { paintMs: 0, firstMs: 0, longMs: 0 };
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.seen.longMs = Math.max(window.seen.longMs, one.duration);
}).observe({ type: 'longtask', buffered: true });
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.seen.paintMs = one.startTime;
}).observe({ type: 'paint', buffered: true });
new MutationObserver(() => {
  if (window.seen.firstMs === 0 && document.querySelector(SELECTOR) !== null)
    requestAnimationFrame(() => { window.seen.firstMs ||= performance.now(); });
}).observe(document, { childList: true, subtree: true });
`;
