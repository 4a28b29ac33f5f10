/** What a page prints for a shell. Owns where it stands on the page; who types it says what becomes of it. */

/** The blocks of a page that are marked as `sh`, in order. */
export function printedBlocks(page: string): readonly string[] {
  return [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
}
