/**
 * Rows and rules of docs/spec.md have ids, and tests carry them in their titles: none is missing and none is made up.
 * Whether those tests pass is asked after a whole run, by scripts/test.js.
 */
import { idsOfSpec, idsOfTitle } from '../../../scripts/spec-ids.js';
import { fileAt, type Tree, type Violation } from '../tree.ts';

const PAGE = 'docs/spec.md';
/** A text in quotes that begins with ids: the title of a test. */
const QUOTED = /(['"`])([A-Z]\d+(?:, [A-Z]\d+)*: )/g;

export function specIds(tree: Tree): readonly Violation[] {
  const page = fileAt(tree, PAGE);
  if (page === null) return [`${PAGE}: there is no such page`];
  const ids = idsOfSpec(page.text);
  const known = new Set(ids);
  const named = new Set<string>();
  const madeUp: Violation[] = [];
  for (const { path, text } of tree.filter((file) => /^(test|examples)\/.*\.test\.ts$/.test(file.path))) {
    for (const [index, line] of text.split('\n').entries()) {
      for (const id of [...line.matchAll(QUOTED)].flatMap(([, , title = '']) => idsOfTitle(title))) {
        named.add(id);
        if (!known.has(id)) madeUp.push(`${path}:${index + 1}: ${PAGE} has no ${id}`);
      }
    }
  }
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...[...new Set(twice)].map((id) => `${PAGE}: ${id} stands there more than once`),
    ...ids.filter((id) => !named.has(id)).map((id) => `${PAGE}: no title of a test begins with "${id}: "`),
    ...madeUp,
  ];
}
