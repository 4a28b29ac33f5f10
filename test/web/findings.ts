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
  return await found(page, 'axe.run(document)');
}

/** The same of what another colour alone can change, for a page whose other findings are known. */
export async function colourFindings({ page }: { readonly page: Page }): Promise<readonly string[]> {
  return await found(page, "axe.run(document, { runOnly: ['color-contrast', 'link-in-text-block'] })");
}

async function found(page: Page, run: string): Promise<readonly string[]> {
  // It is half a megabyte: a page that has it keeps it.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(run)) as { violations: readonly Finding[] };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`),
  );
}
