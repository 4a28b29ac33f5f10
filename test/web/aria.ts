/**
 * A page as those who cannot see it have it: roles, names and states, in the order in which they are read.
 * Owns the wait until all of it is there, and what is no part of it: ids and instants, which are others in every run.
 */
import type { Page } from 'playwright-core';

const LOOKS_MAX = 100;
const LOOK_MS = 150;

/** Of the page within the navigation, when nothing is loaded any more and two snapshots are the same. */
export async function ariaOf(page: Page): Promise<string> {
  let before = '';
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const now = withoutChance(await page.locator('main').ariaSnapshot());
    const isBusy = now.includes('Loading') || (await page.locator('main [aria-busy="true"]').count()) > 0;
    if (now === before && !isBusy) return now;
    before = now;
    await page.waitForTimeout(LOOK_MS);
  }
  throw new Error(`the page never came to rest: ${before}`);
}

function withoutChance(snapshot: string): string {
  return (
    snapshot
      .replaceAll(/\b[0-9a-f]{8,64}\b/g, 'ID')
      .replaceAll(/\d{1,2}\/\d{1,2}\/\d{4}, \d{1,2}:\d\d:\d\d [AP]M/g, 'INSTANT')
      .replaceAll(/\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?(?:\.\d+)?(?: UTC|Z)?/g, 'INSTANT')
      .replaceAll(/\b(?:just now|\d+ (?:s|min|h|days?) ago)\b/g, 'AGO')
      .replaceAll(/\b\d+(?:\.\d+)? (?:ms|s|min|h)\b(?: \d+ s\b)?/g, 'TIME')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
      // An id of digits alone, or with one `e` among them, is quoted as YAML does it: one of some forty is.
      .replaceAll(/: "(ID|INSTANT|AGO|TIME|HOST)"$/gm, ': $1')
  );
}
