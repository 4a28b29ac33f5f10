/**
 * The console sends requests only to its own server, draws text as text, and keeps no key beyond its tab.
 * Owns the list of what its sources must not hold; the page's policy refuses the same in a browser.
 */
import { topFolder, type RepoFile, type Tree, type Violation } from '../tree.ts';

const BANS: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [
    /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML/,
    'markup made of text; draw elements',
  ],
  [/\beval\(|new Function\(/, 'code made of text; write the code'],
  [/\blocalStorage\b|document\.cookie/, 'kept beyond the tab; use session/key-memory.ts'],
  // The name of a vocabulary is no address: nothing is loaded from it.
  [/https?:\/\/(?!www\.w3\.org\/2000\/svg)/, 'an address of another host; serve it from web/'],
];

export function consoleKeepsToItself(tree: Tree): readonly Violation[] {
  return tree.filter((file) => topFolder(file.path) === 'web').flatMap(checkFile);
}

function checkFile({ path, text }: RepoFile): readonly Violation[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      BANS.filter(([pattern]) => pattern.test(line)).map(([, problem]) => `${path}:${index + 1}: ${problem}`),
    );
}
