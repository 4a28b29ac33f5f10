/**
 * What keeps people from using a page, as axe finds it.
 * Owns the asking; what is tolerated is nothing.
 */
import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** One line for each place that something is wrong at. */
export async function findings({ page }: { readonly page: Page }): Promise<readonly string[]> {
  // It is half a megabyte: a page that has it keeps it.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document)')) as { violations: readonly Finding[] };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`),
  );
}
